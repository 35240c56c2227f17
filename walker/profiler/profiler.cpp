#include "walker/profiler/profiler.h"

#include <algorithm>

#include "symbols/win/com_pointer.h"
#include "unmanaged/win/utf8.h"
#include "walker/profiler/entry_barrier.h"
#include "walker/session/start_variables.h"
#include "walker/session/win/environment.h"

namespace mixwalk {
namespace {

std::atomic<long> g_profilers{0};

constexpr UINT kMaxPipeNameBytes = 512;

constexpr DWORD kEvents =
    clr::kMonitorModuleLoads | clr::kMonitorThreads | clr::kEnableStackSnapshot;

const IID* const kImplemented[] = {
    &IID_IUnknown,       &clr::kIidCallback,  &clr::kIidCallback2, &clr::kIidCallback3,
    &clr::kIidCallback4, &clr::kIidCallback5, &clr::kIidCallback6, &clr::kIidCallback7,
    &clr::kIidCallback8, &clr::kIidCallback9};

// Gives the program and its children the variables that they would have without mixwalk. Otherwise a child would load
// mixwalk.dll as well, without a mixwalk.exe to talk to.
void give_back_variables() {
  if (!environment_variable(kPipeVariable)) return;  // mixwalk.exe did not set it
  for (const wchar_t* const name : kProfilerVariables) {
    const std::wstring kept_name = std::wstring(kKeptPrefix) + name;
    const auto kept = environment_variable(kept_name.c_str());
    SetEnvironmentVariableW(name, kept ? kept->c_str() : nullptr);
    SetEnvironmentVariableW(kept_name.c_str(), nullptr);
  }
  SetEnvironmentVariableW(kPipeVariable, nullptr);
  SetEnvironmentVariableW(kAllocationsVariable, nullptr);
}

}  // namespace

Profiler::Profiler() : agent_(clr_, registry_) { ++g_profilers; }
Profiler::~Profiler() { --g_profilers; }
long Profiler::count() noexcept { return g_profilers; }

HRESULT STDMETHODCALLTYPE Profiler::QueryInterface(REFIID iid, void** object) {
  if (object == nullptr) return E_POINTER;
  // QueryInterface succeeds only for interfaces that are really implemented. Folklore: .NET 10 crashes if
  // QueryInterface succeeds for an interface whose slots this vtable does not have, because it then calls them.
  if (std::ranges::any_of(kImplemented, [&](const IID* known) { return iid == *known; })) {
    *object = static_cast<clr::ICorProfilerCallback9*>(this);
    AddRef();
    return S_OK;
  }
  *object = nullptr;
  return E_NOINTERFACE;
}

ULONG STDMETHODCALLTYPE Profiler::AddRef() { return ++references_; }

ULONG STDMETHODCALLTYPE Profiler::Release() {
  const ULONG left = --references_;
  if (left == 0) delete this;
  return left;
}

HRESULT STDMETHODCALLTYPE Profiler::Initialize(IUnknown* info) {
  return answer_runtime([&] { return begin_at_start(info); });
}

HRESULT Profiler::begin_at_start(IUnknown* info) {
  const auto pipe = environment_variable(kPipeVariable);
  const bool allocations = environment_variable(kAllocationsVariable).has_value();
  give_back_variables();
  // A program other than mixwalk.exe set the variables that loaded this DLL. There is no pipe, so the runtime continues
  // without the DLL.
  if (!pipe || pipe->empty() || pipe->size() >= kMaxPipeNameBytes) return E_FAIL;
  const HRESULT result =
      begin(info, *pipe, allocations ? kEvents | clr::kEnableObjectAllocated : kEvents);
  if (SUCCEEDED(result)) agent_.begin_serving(WorkEnd::done);
  return result;
}

HRESULT STDMETHODCALLTYPE Profiler::InitializeForAttach(IUnknown* info, void* client_data,
                                                        UINT client_bytes) {
  if (client_data == nullptr || client_bytes == 0 || client_bytes > kMaxPipeNameBytes) {
    return E_INVALIDARG;
  }
  return answer_runtime([&] {
    registry_.begin_enumeration();
    return begin(info, to_utf16({static_cast<const char*>(client_data), client_bytes}), kEvents);
  });
}

HRESULT Profiler::begin(IUnknown* info, std::wstring pipe_name, DWORD events) {
  if (!clr_.query(info)) return E_NOINTERFACE;
  const HRESULT result = clr_.set_events(events);
  if (FAILED(result)) return result;
  return agent_.start(std::move(pipe_name), this) ? S_OK : E_OUTOFMEMORY;
}

HRESULT STDMETHODCALLTYPE Profiler::ProfilerAttachComplete() {
  const LastErrorKept last_error;
  const WorkEnd end = run_guarded([&] { enumerate_threads(); });
  registry_.end_enumeration();
  agent_.begin_serving(end);
  return S_OK;
}

// EnumThreads is called only here, and only once. Folklore: EnumThreads from the sampler can hang (dotnet/runtime issue
// 110062).
void Profiler::enumerate_threads() {
  ComPointer<clr::ICorProfilerThreadEnum> threads;
  if (!clr_.info4 || FAILED(clr_.info4->EnumThreads(threads.put()))) return;
  clr::ThreadID thread = 0;
  ULONG fetched = 0;
  while (threads->Next(1, &thread, &fetched) == S_OK && fetched == 1) {
    // The list may contain threads whose system thread has ended, and walking such a thread would end the process. The
    // handle of such a thread is no longer valid, or is that of another thread.
    DWORD os_id = 0;
    HANDLE handle = nullptr;
    if (!registry_.claim_listed(thread)) continue;
    const bool runs = SUCCEEDED(clr_.info->GetThreadInfo(thread, &os_id)) && os_id != 0 &&
                      SUCCEEDED(clr_.info->GetHandleFromThread(thread, &handle)) &&
                      GetThreadId(handle) == os_id;
    registry_.release(thread);
    if (runs) registry_.enumerated(thread, os_id);
  }
}

HRESULT STDMETHODCALLTYPE Profiler::ProfilerDetachSucceeded() {
  return answer_runtime([&] {
    clr_.release();
    agent_.detached();
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::Shutdown() {
  return answer_runtime([&] {
    agent_.stop_sampling();
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ModuleUnloadStarted(clr::ModuleID module) {
  return answer_runtime([&] {
    agent_.before_unload(module);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::DynamicMethodUnloaded(clr::FunctionID function) {
  return answer_runtime([&] {
    // A dynamic method is compiled only once, into one piece. It is never compiled if its IL is not valid.
    clr::CodeInfo piece{};
    ULONG32 pieces = 0;
    const HRESULT result = clr_.info->GetCodeInfo2(function, 1, &pieces, &piece);
    if (result == clr::kNotCompiled) {
      piece = {};
    } else if (FAILED(result) || pieces != 1) {
      piece = {.start = 0, .size = UnloadGate::kAnywhere};
    }
    agent_.before_method_unload(function, piece.start, piece.size);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ModuleLoadFinished(clr::ModuleID module, HRESULT status) {
  return answer_runtime([&] {
    agent_.events().loaded_module(module, status);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ClassLoadFinished(clr::ClassID type, HRESULT status) {
  return answer_runtime([&] {
    agent_.events().loaded_type(type, status);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ObjectAllocated(clr::ObjectID, clr::ClassID type) {
  return answer_runtime([&] {
    agent_.events().allocated(type);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ExceptionThrown(clr::ObjectID object) {
  return answer_runtime([&] {
    agent_.events().thrown(object);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadAssignedToOSThread(clr::ThreadID thread,
                                                             DWORD os_thread) {
  return answer_runtime([&] {
    registry_.assigned(thread, os_thread);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadDestroyed(clr::ThreadID thread) {
  return answer_runtime([&] {
    registry_.destroyed(thread);
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadNameChanged(clr::ThreadID thread, ULONG length,
                                                      WCHAR name[]) {
  return answer_runtime([&] {
    registry_.renamed(thread, name == nullptr ? std::string() : to_utf8({name, length}));
    return S_OK;
  });
}

}  // namespace mixwalk
