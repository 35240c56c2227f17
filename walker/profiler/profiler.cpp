#include "walker/profiler/profiler.h"

#include "symbols/win/com_pointer.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

std::atomic<long> g_profilers{0};

// Names the pipe of mixwalk.exe to a program that it starts; an attach says it in the client data.
constexpr wchar_t kPipeVariable[] = L"MIXWALK_PIPE";
// Set: allocations will be asked for.
constexpr wchar_t kAllocationsVariable[] = L"MIXWALK_ALLOCATIONS";
constexpr UINT kMaxPipeNameBytes = 512;

constexpr DWORD kEvents =
    clr::kMonitorModuleLoads | clr::kMonitorThreads | clr::kEnableStackSnapshot;

}  // namespace

Profiler::Profiler() : agent_(clr_, registry_) { ++g_profilers; }
Profiler::~Profiler() { --g_profilers; }
long Profiler::count() noexcept { return g_profilers; }

HRESULT STDMETHODCALLTYPE Profiler::QueryInterface(REFIID iid, void** object) {
  if (object == nullptr) return E_POINTER;
  // Only what is really implemented. Folklore: a yes to ICorProfilerCallback4 and later crashes
  // .NET 10, which then calls slots that this vtable does not have.
  if (iid == IID_IUnknown || iid == clr::kIidCallback || iid == clr::kIidCallback2 ||
      iid == clr::kIidCallback3) {
    *object = static_cast<clr::ICorProfilerCallback3*>(this);
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
  std::wstring pipe(kMaxPipeNameBytes, L'\0');
  const DWORD length = GetEnvironmentVariableW(kPipeVariable, pipe.data(), kMaxPipeNameBytes);
  // Loaded by the variables of a parent that mixwalk.exe started, perhaps: with nobody to talk to,
  // the runtime goes on without us.
  if (length == 0 || length >= kMaxPipeNameBytes) return E_FAIL;
  pipe.resize(length);
  // A child of this program must not come to the same pipe.
  SetEnvironmentVariableW(kPipeVariable, nullptr);
  const bool allocations = GetEnvironmentVariableW(kAllocationsVariable, nullptr, 0) != 0;
  SetEnvironmentVariableW(kAllocationsVariable, nullptr);
  const HRESULT result =
      begin(info, std::move(pipe), allocations ? kEvents | clr::kEnableObjectAllocated : kEvents);
  if (SUCCEEDED(result)) agent_.begin_serving();
  return result;
}

HRESULT STDMETHODCALLTYPE Profiler::InitializeForAttach(IUnknown* info, void* client_data,
                                                        UINT client_bytes) {
  if (client_data == nullptr || client_bytes == 0 || client_bytes > kMaxPipeNameBytes) {
    return E_INVALIDARG;
  }
  registry_.begin_enumeration();
  return begin(info, to_utf16({static_cast<const char*>(client_data), client_bytes}),
               kEvents);
}

HRESULT Profiler::begin(IUnknown* info, std::wstring pipe_name, DWORD events) {
  if (!clr_.query(info)) return E_NOINTERFACE;
  const HRESULT result = clr_.info->SetEventMask(events);
  if (FAILED(result)) return result;
  return agent_.start(std::move(pipe_name), this) ? S_OK : E_OUTOFMEMORY;
}

HRESULT STDMETHODCALLTYPE Profiler::ProfilerAttachComplete() {
  enumerate_threads();
  agent_.begin_serving();
  return S_OK;
}

// Once, and here. Folklore: EnumThreads from the sampler can hang (dotnet/runtime issue 110062).
void Profiler::enumerate_threads() {
  ComPointer<clr::ICorProfilerThreadEnum> threads;
  if (!clr_.info4 || FAILED(clr_.info4->EnumThreads(threads.put()))) return;
  clr::ThreadID thread = 0;
  ULONG fetched = 0;
  while (threads->Next(1, &thread, &fetched) == S_OK && fetched == 1) {
    // The list also has threads whose system thread has ended; walking one would end the process.
    // Their handle is no handle any more, or not that of the thread they say.
    DWORD os_id = 0;
    HANDLE handle = nullptr;
    if (FAILED(clr_.info->GetThreadInfo(thread, &os_id)) || os_id == 0) continue;
    if (FAILED(clr_.info->GetHandleFromThread(thread, &handle)) || GetThreadId(handle) != os_id) {
      continue;
    }
    registry_.enumerated(thread, os_id);
  }
  registry_.end_enumeration();
}

HRESULT STDMETHODCALLTYPE Profiler::ProfilerDetachSucceeded() {
  clr_.release();
  agent_.detached();
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::Shutdown() {
  agent_.stop_sampling();
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ModuleUnloadStarted(clr::ModuleID) {
  agent_.before_unload();
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ObjectAllocated(clr::ObjectID, clr::ClassID type) {
  agent_.events().allocated(type);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ExceptionThrown(clr::ObjectID object) {
  agent_.events().thrown(object);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadAssignedToOSThread(clr::ThreadID thread,
                                                             DWORD os_thread) {
  registry_.assigned(thread, os_thread);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadDestroyed(clr::ThreadID thread) {
  registry_.destroyed(thread);
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Profiler::ThreadNameChanged(clr::ThreadID thread, ULONG length,
                                                      WCHAR name[]) {
  registry_.renamed(thread, name == nullptr ? std::string() : to_utf8({name, length}));
  return S_OK;
}

}  // namespace mixwalk
