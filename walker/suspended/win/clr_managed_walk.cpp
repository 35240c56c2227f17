#include "walker/suspended/win/clr_managed_walk.h"

#include "unmanaged/win/context.h"

namespace mixwalk {

static_assert(static_cast<std::uint32_t>(clr::kSnapshotInvalidThread) == kThreadDetached);

void ClrManagedWalk::warm_up(clr::ICorProfilerInfo4* info4) noexcept {
  if (info4 != nullptr) info4->InitializeCurrentThread();
  // Thread 0 is the caller's own. It never ran managed code, so the walk is refused; only the call itself matters here.
  static const auto ignore = [](clr::FunctionID, UINT_PTR, clr::FrameInfo, ULONG32, BYTE*,
                                void*) STDMETHODCALLTYPE -> HRESULT { return S_FALSE; };
  info_.DoStackSnapshot(0, ignore, clr::kSnapshotRegisterContext, nullptr, nullptr, 0);
  is_managed(reinterpret_cast<std::uint64_t>(&info_));
}

bool ClrManagedWalk::is_managed(std::uint64_t ip) noexcept {
  clr::FunctionID function = 0;
  const auto* code = reinterpret_cast<const BYTE*>(ip);
  if (info8_ != nullptr) {
    // The last argument is null, so the ReJITID is not asked for. Asking for it would take a lock of the runtime's.
    return SUCCEEDED(info8_->GetFunctionFromIP3(code, &function, nullptr)) && function != 0;
  }
  return SUCCEEDED(info_.GetFunctionFromIP(code, &function)) && function != 0;
}

HRESULT STDMETHODCALLTYPE ClrManagedWalk::frame(clr::FunctionID function, UINT_PTR ip,
                                                clr::FrameInfo, ULONG32 context_size,
                                                BYTE context[], void* client_data) noexcept {
  auto& walk = *static_cast<Walk*>(client_data);
  RawSample& sample = walk.sample;
  if (!walk.supervisor.walk_may_go_on()) return S_FALSE;
  if (sample.entry_count == sample.entry_buffer.size() || context_size < sizeof(CONTEXT)) {
    sample.entries_cut = true;
    return S_FALSE;
  }
  ManagedEntry& entry = sample.entry_buffer[sample.entry_count++];
  entry.function = function;
  entry.ip = ip;
  entry.registers = registers_of(*reinterpret_cast<const CONTEXT*>(context));
  return S_OK;
}

// Folklore. Situation: a thread that the runtime did not create ends. The runtime detaches it in its thread-end
// notification, and reports ThreadDestroyed only later, from the finalizer. In between, DoStackSnapshot ends the
// process ("Fatal error. 0x8013135E"). Real case: native callback threads in a program with a DLL whose DllMain takes
// some milliseconds at a thread's end. Remedy: a detached thread has no handle any more. The detaching thread itself
// removes the handle, so while that thread is frozen, the answer stays valid. (While the runtime has a handle of a
// thread, the system gives its id to no other thread, so the handle is that of the thread which was assigned.) Test:
// foreign_threads_test.
bool ClrManagedWalk::is_attached(std::uint64_t clr_thread) noexcept {
  HANDLE handle = nullptr;
  return SUCCEEDED(info_.GetHandleFromThread(clr_thread, &handle));
}

void ClrManagedWalk::walk(std::uint64_t clr_thread, const Registers* seed,
                          RawSample& sample) noexcept {
  const auto aborted = static_cast<std::uint32_t>(clr::kSnapshotAborted);
  // A running thread must not be walked.
  if (!supervisor_.begin_walk()) {
    sample.refusal = aborted;
    return;
  }
  const bool attached = is_attached(clr_thread);
  const HRESULT result = attached ? snapshot(clr_thread, seed, sample) : clr::kSnapshotInvalidThread;
  const bool was_frozen = supervisor_.end_walk();
  sample.managed_walked = result == S_OK && !sample.entries_cut && was_frozen;
  sample.refusal = sample.managed_walked ? 0
                   : result == S_OK      ? aborted
                                         : static_cast<std::uint32_t>(result);
}

HRESULT ClrManagedWalk::snapshot(std::uint64_t clr_thread, const Registers* seed,
                                 RawSample& sample) noexcept {
  // The walk needs only the integer registers. The rest of the context stays zero, and its flags say so.
  CONTEXT context;
  if (seed != nullptr) {
    ZeroMemory(&context, sizeof context);
    context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
    set_registers(context, *seed);
  }
  Walk walk{sample, supervisor_};
  return info_.DoStackSnapshot(clr_thread, &frame, clr::kSnapshotRegisterContext, &walk,
                               seed != nullptr ? reinterpret_cast<BYTE*>(&context) : nullptr,
                               seed != nullptr ? sizeof context : 0);
}

}  // namespace mixwalk
