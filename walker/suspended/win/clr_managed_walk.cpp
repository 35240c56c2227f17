#include "walker/suspended/win/clr_managed_walk.h"

#include "unmanaged/win/context.h"

namespace mixwalk {

void ClrManagedWalk::warm_up(clr::ICorProfilerInfo4* info4) noexcept {
  if (info4 != nullptr) info4->InitializeCurrentThread();
  // Thread 0 is the caller's own. It never ran managed code, so the walk is refused; that it was
  // asked is the point.
  static const auto ignore = [](clr::FunctionID, UINT_PTR, clr::FrameInfo, ULONG32, BYTE*,
                                void*) STDMETHODCALLTYPE -> HRESULT { return S_FALSE; };
  info_.DoStackSnapshot(0, ignore, clr::kSnapshotRegisterContext, nullptr, nullptr, 0);
  is_managed(reinterpret_cast<std::uint64_t>(&info_));
}

bool ClrManagedWalk::is_managed(std::uint64_t ip) noexcept {
  clr::FunctionID function = 0;
  const auto* code = reinterpret_cast<const BYTE*>(ip);
  if (info8_ != nullptr) {
    clr::ReJITID rejit = 0;
    return SUCCEEDED(info8_->GetFunctionFromIP3(code, &function, &rejit)) && function != 0;
  }
  return SUCCEEDED(info_.GetFunctionFromIP(code, &function)) && function != 0;
}

HRESULT STDMETHODCALLTYPE ClrManagedWalk::frame(clr::FunctionID function, UINT_PTR ip,
                                                clr::FrameInfo, ULONG32 context_size,
                                                BYTE context[], void* client_data) noexcept {
  auto& walk = *static_cast<Walk*>(client_data);
  RawSample& sample = walk.sample;
  if (walk.supervisor.overdue()) return S_FALSE;
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

void ClrManagedWalk::walk(std::uint64_t clr_thread, const Registers* seed,
                          RawSample& sample) noexcept {
  // It runs already: no thread that runs may be walked.
  if (supervisor_.overdue()) {
    sample.refusal = static_cast<std::uint32_t>(clr::kSnapshotAborted);
    return;
  }
  // The walk needs the integer registers only; the rest stays zero, and says so by its flags.
  CONTEXT context;
  if (seed != nullptr) {
    ZeroMemory(&context, sizeof context);
    context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
    set_registers(context, *seed);
  }
  Walk walk{sample, supervisor_};
  const HRESULT result = info_.DoStackSnapshot(
      clr_thread, &frame, clr::kSnapshotRegisterContext, &walk,
      seed != nullptr ? reinterpret_cast<BYTE*>(&context) : nullptr,
      seed != nullptr ? sizeof context : 0);
  sample.managed_walked = result == S_OK && !sample.entries_cut && !supervisor_.overdue();
  sample.refusal = sample.managed_walked ? 0
                   : result == S_OK      ? static_cast<std::uint32_t>(clr::kSnapshotAborted)
                                         : static_cast<std::uint32_t>(result);
}

}  // namespace mixwalk
