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

// The DLL's own thread in the target. It answers mixwalk.exe over the pipe, and it is the only thread that freezes
// others. That is allowed because it never runs managed code.
//
// The thread begins with start(), in Initialize or InitializeForAttach. It serves requests once begin_serving() was
// called, when the runtime is ready. It asks the runtime to detach the profiler when mixwalk.exe says so, or when the
// pipe breaks. It ends after detached(), and releases its own reference to the DLL at its end. If there is not enough
// memory for a visit, it tells mixwalk.exe so, and detaches.
class Agent {
 public:
  Agent(ClrInterfaces& clr, ThreadRegistry& registry)
      : clr_(clr), registry_(registry), events_(clr, registry, unload_gate_) {}
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // `owner` is the object that keeps this one alive; it is released when the thread ends.
  bool start(std::wstring pipe_name, IUnknown* owner);
  // `prepared`: how the work that prepares the visit has ended. Unless it is `done`, the visit ends with that result.
  void begin_serving(WorkEnd prepared) noexcept {
    prepared_ = prepared;
    SetEvent(serve_.get());
  }
  // To be called when the runtime has detached the profiler.
  void detached() noexcept { SetEvent(detached_.get()); }
  // To be called when the process ends: no further freeze begins, and this waits a limited time for the current one.
  void stop_sampling() noexcept {
    events_.close();
    gate_.close(thread_.get());
  }
  // To be called before managed code is unloaded.
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
  bool with_sampler(const DumpRequest& sampling, const std::function<bool(Sampler&)>& work);
  bool give_up(std::string why);
  bool dump(const DumpRequest& request);
  bool record(const RecordRequest& request);
  void detach() noexcept;

  ClrInterfaces& clr_;
  ThreadRegistry& registry_;
  IUnknown* owner_ = nullptr;
  HMODULE module_ = nullptr;  // one reference, which the thread owns
  std::wstring pipe_name_;
  PipeEnd pipe_;
  Hello hello_;
  std::optional<SharedLedger> ledger_;  // without a ledger nothing is frozen
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
