#pragma once

#include "symbols/win/profiling_api.h"
#include "walker/suspended/managed_walk.h"
#include "walker/suspended/win/supervisor.h"

namespace mixwalk {

// The managed walk by the profiling API. Frozen-safe on our side. What the CLR does inside these calls is not under our
// control, and the supervisor limits its time.
class ClrManagedWalk final : public ManagedWalk {
 public:
  // `info8` may be null (.NET Framework); IL stubs are then not recognised as managed code. Neither interface is owned.
  ClrManagedWalk(clr::ICorProfilerInfo3& info, clr::ICorProfilerInfo8* info8,
                 Supervisor& supervisor) noexcept
      : info_(info), info8_(info8), supervisor_(supervisor) {}

  // To be called before any thread is frozen, on the thread that will call walk(), so that the CLR allocates now
  // whatever it allocates on a thread's first call. (The DoStackSnapshot page and the articles about it demand a first
  // call with nothing suspended; ICorProfilerInfo4::InitializeCurrentThread does the rest.)
  void warm_up(clr::ICorProfilerInfo4* info4) noexcept;

  // Whether the thread is still attached to the runtime. The answer stays valid only while the thread is frozen. The
  // thread must be claimed (ThreadRegistry), because the ThreadID is a pointer that the runtime follows.
  bool is_attached(std::uint64_t clr_thread) noexcept;

  bool is_managed(std::uint64_t ip) noexcept override;
  void walk(std::uint64_t clr_thread, const Registers* seed, RawSample& sample) noexcept override;

 private:
  struct Walk {
    RawSample& sample;
    Supervisor& supervisor;
  };
  HRESULT snapshot(std::uint64_t clr_thread, const Registers* seed, RawSample& sample) noexcept;
  static HRESULT STDMETHODCALLTYPE frame(clr::FunctionID function, UINT_PTR ip,
                                         clr::FrameInfo info, ULONG32 context_size,
                                         BYTE context[], void* client_data) noexcept;

  clr::ICorProfilerInfo3& info_;
  clr::ICorProfilerInfo8* info8_;
  Supervisor& supervisor_;
};

}  // namespace mixwalk
