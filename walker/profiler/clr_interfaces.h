#pragma once

#include "symbols/win/com_pointer.h"
#include "symbols/win/profiling_api.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The interfaces of the runtime that this DLL was loaded into. Every runtime from .NET Framework 4.0 on has `info`.
// `info4` exists from .NET Framework 4.5 on, `info5` from 4.5.2 on, `info8` in .NET Framework 4.7.2 and in .NET Core
// 2.1 and later, `info9` in .NET Core 2.1 and later.
struct ClrInterfaces {
  ComPointer<clr::ICorProfilerInfo3> info;
  ComPointer<clr::ICorProfilerInfo4> info4;
  ComPointer<clr::ICorProfilerInfo5> info5;
  ComPointer<clr::ICorProfilerInfo8> info8;
  ComPointer<clr::ICorProfilerInfo9> info9;
  bool reports_method_unloads = false;  // DynamicMethodUnloaded is called

  // Returns false if the runtime is older than .NET Framework 4.0.
  bool query(IUnknown* from) noexcept {
    if (!info.query(from, clr::kIidInfo3)) return false;
    info4.query(from, clr::kIidInfo4);
    info5.query(from, clr::kIidInfo5);
    info8.query(from, clr::kIidInfo8);
    info9.query(from, clr::kIidInfo9);
    return true;
  }

  // Sets the events that the runtime reports, and in addition the unloading of dynamic methods if the runtime knows
  // that event. Only this function sets events, because SetEventMask switches off what only SetEventMask2 can switch
  // on.
  HRESULT set_events(DWORD events) noexcept {
    if (info5 && SUCCEEDED(info5->SetEventMask2(events, clr::kHighMonitorDynamicUnloads))) {
      reports_method_unloads = true;
      return S_OK;
    }
    reports_method_unloads = false;
    return info->SetEventMask(events);
  }

  // To be called no later than in ProfilerDetachSucceeded. Folklore: the runtime deletes the object behind these
  // interfaces when it has detached a profiler, even while references to it are held. A Release after that called
  // through freed memory and ended the target, well after the detach. (Tests: the ladder tests.)
  void release() noexcept {
    info9.reset();
    info8.reset();
    info5.reset();
    info4.reset();
    info.reset();
  }

  Runtime runtime() const {
    constexpr DWORD kDesktopClr = 1;  // COR_PRF_RUNTIME_TYPE
    Runtime runtime{.name = ".NET"};
    USHORT instance = 0;
    DWORD kind = 0;
    USHORT major = 0, minor = 0, build = 0, revision = 0;
    if (SUCCEEDED(info->GetRuntimeInformation(&instance, &kind, &major, &minor, &build, &revision,
                                              0, nullptr, nullptr))) {
      if (kind == kDesktopClr) runtime.name = ".NET Framework";
      runtime.major = major;
      runtime.minor = minor;
      runtime.build = build;
      runtime.revision = revision;
    }
    return runtime;
  }
};

}  // namespace mixwalk
