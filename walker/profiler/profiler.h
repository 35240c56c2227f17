#pragma once

#include <atomic>

#include "walker/profiler/agent.h"
#include "walker/profiler/callback_api.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/thread_registry.h"

namespace mixwalk {

// The profiler that the CLR calls: it maintains the thread registry and starts the agent. All callbacks return at once,
// except these: Shutdown waits for the freeze in progress and for the last events. ThreadDestroyed waits while its
// thread is being walked. ModuleUnloadStarted and DynamicMethodUnloaded wait while the runtime is being asked for a
// name. ExceptionThrown, ObjectAllocated, ClassLoadFinished and ModuleLoadFinished walk their own thread if a recording
// asks for these events.
class Profiler final : public clr::ICorProfilerCallback9 {
 public:
  Profiler();
  ~Profiler();
  // Objects alive in this DLL, for DllCanUnloadNow.
  static long count() noexcept;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override;
  ULONG STDMETHODCALLTYPE AddRef() override;
  ULONG STDMETHODCALLTYPE Release() override;

  HRESULT STDMETHODCALLTYPE Initialize(IUnknown* info) override;
  HRESULT STDMETHODCALLTYPE InitializeForAttach(IUnknown* info, void* client_data,
                                                UINT client_bytes) override;
  HRESULT STDMETHODCALLTYPE ProfilerAttachComplete() override;
  HRESULT STDMETHODCALLTYPE ProfilerDetachSucceeded() override;
  HRESULT STDMETHODCALLTYPE Shutdown() override;

  HRESULT STDMETHODCALLTYPE ModuleLoadFinished(clr::ModuleID module, HRESULT status) override;
  HRESULT STDMETHODCALLTYPE ClassLoadFinished(clr::ClassID type, HRESULT status) override;
  HRESULT STDMETHODCALLTYPE ModuleUnloadStarted(clr::ModuleID module) override;
  HRESULT STDMETHODCALLTYPE DynamicMethodUnloaded(clr::FunctionID function) override;
  HRESULT STDMETHODCALLTYPE ObjectAllocated(clr::ObjectID object, clr::ClassID type) override;
  HRESULT STDMETHODCALLTYPE ExceptionThrown(clr::ObjectID object) override;
  HRESULT STDMETHODCALLTYPE ThreadAssignedToOSThread(clr::ThreadID thread,
                                                     DWORD os_thread) override;
  HRESULT STDMETHODCALLTYPE ThreadDestroyed(clr::ThreadID thread) override;
  HRESULT STDMETHODCALLTYPE ThreadNameChanged(clr::ThreadID thread, ULONG length,
                                              WCHAR name[]) override;

 private:
  HRESULT begin_at_start(IUnknown* info);
  HRESULT begin(IUnknown* info, std::wstring pipe_name, DWORD events);
  void enumerate_threads();

  std::atomic<ULONG> references_{1};
  ClrInterfaces clr_;
  ThreadRegistry registry_;
  Agent agent_;
};

}  // namespace mixwalk
