#pragma once

#include <windows.h>

#include <functional>
#include <optional>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/profiler/circuit_breaker.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/entry_barrier.h"
#include "walker/profiler/event_source.h"
#include "walker/profiler/freeze_gate.h"
#include "walker/profiler/pipe_end.h"
#include "walker/profiler/sampler.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"
#include "walker/session/win/shared_ledger.h"

namespace mixwalk {

// The DLL's own thread in the target: it answers mixwalk.exe over the pipe, and it is the only thread that freezes
// others. That is allowed because it never runs managed code.
//
// Its life: start() in Initialize or InitializeForAttach; it serves once begin_serving() was called (the runtime is
// ready); it asks the runtime to detach when told so, or when the pipe breaks; it ends after detached(), and releases
// its own reference to the DLL at its end. Where there is not enough memory for a visit, it tells mixwalk.exe so, and
// detaches.
class Agent {
 public:
  Agent(ClrInterfaces& clr, ThreadRegistry& registry)
      : clr_(clr), registry_(registry), events_(clr, registry, unload_gate_) {}
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // `owner` is released when the thread ends: it keeps this object alive.
  bool start(std::wstring pipe_name, IUnknown* owner);
  // `prepared`: how the work before it ended. For anything but `done`, the visit ends with that result.
  void begin_serving(WorkEnd prepared) noexcept {
    prepared_ = prepared;
    SetEvent(serve_.get());
  }
  // The runtime has detached the profiler.
  void detached() noexcept { SetEvent(detached_.get()); }
  // The process is ending: no further freeze begins, and this waits a limited time for the current one.
  void stop_sampling() noexcept {
    events_.close();
    gate_.close(thread_.get());
  }
  // Managed code is about to be unloaded.
  void before_unload(clr::ModuleID module) noexcept {
    unload_gate_.module_unloading(module);
    events_.forget_types();
  }
  void before_method_unload(clr::FunctionID function, std::uint64_t begin,
                            std::uint64_t size) noexcept {
    unload_gate_.method_unloading(function, begin, size);
  }
  EventSource& events() noexcept { return events_; }

 private:
  static DWORD WINAPI run(void* self) noexcept;
  void serve() noexcept;
  void talk();
  void answer_requests();
  bool with_sampler(std::uint32_t deadline_ms, const std::function<bool(Sampler&)>& work);
  bool give_up(std::string why);
  bool dump(const DumpRequest& request);
  bool record(const RecordRequest& request);
  void detach() noexcept;

  ClrInterfaces& clr_;
  ThreadRegistry& registry_;
  IUnknown* owner_ = nullptr;
  HMODULE module_ = nullptr;  // one reference, the thread's
  std::wstring pipe_name_;
  PipeEnd pipe_;
  Hello hello_;
  std::optional<SharedLedger> ledger_;  // nothing is frozen without
  UniqueHandle thread_;
  WorkEnd prepared_ = WorkEnd::done;  // written before serve_ is set
  UniqueHandle serve_;
  UniqueHandle detached_;
  FreezeGate gate_;
  UnloadGate unload_gate_;
  CircuitBreaker breaker_;
  EventSource events_;
};

}  // namespace mixwalk
