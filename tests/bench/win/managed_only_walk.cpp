#include "tests/bench/win/managed_only_walk.h"

namespace mixwalk::bench {
namespace {

constexpr int kMaxLeafFrames = 512;  // the same limit as in mixwalk

}  // namespace

bool ManagedOnlyWalk::walk(const WindowsThread& thread, std::uint64_t clr_thread) noexcept {
  count_ = 0;
  CONTEXT context;
  // Such profilers use CONTEXT_FULL, which also has the floating point registers. Without them the peer is faster.
  context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
  if (!GetThreadContext(thread.handle(), &context)) return false;
  const bool seeded = find_seed(context);
  if (!supervisor_.begin_walk()) return true;
  info_.DoStackSnapshot(clr_thread, &frame, 0, this,
                        seeded ? reinterpret_cast<BYTE*>(&context) : nullptr,
                        seeded ? sizeof context : 0);
  supervisor_.end_walk();
  return true;
}

bool ManagedOnlyWalk::find_seed(CONTEXT& context) const noexcept {
  for (int i = 0; i < kMaxLeafFrames && context.Rip != 0; ++i) {
    clr::FunctionID function = 0;
    if (SUCCEEDED(info_.GetFunctionFromIP(reinterpret_cast<const BYTE*>(context.Rip), &function)) &&
        function != 0) {
      return true;
    }
    DWORD64 base = 0;
    RUNTIME_FUNCTION* entry = RtlLookupFunctionEntry(context.Rip, &base, nullptr);
    if (entry != nullptr) {
      void* handler_data = nullptr;
      DWORD64 establisher = 0;
      RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, entry, &context, &handler_data,
                       &establisher, nullptr);
    } else {
      context.Rip = *reinterpret_cast<const DWORD64*>(context.Rsp);
      context.Rsp += 8;
    }
  }
  return false;
}

HRESULT STDMETHODCALLTYPE ManagedOnlyWalk::frame(clr::FunctionID function, UINT_PTR, clr::FrameInfo,
                                                 ULONG32, BYTE*, void* self) noexcept {
  auto& walk = *static_cast<ManagedOnlyWalk*>(self);
  if (!walk.supervisor_.walk_may_go_on() || walk.count_ == walk.functions_.size()) return S_FALSE;
  if (function != 0) walk.functions_[walk.count_++] = function;
  return S_OK;
}

}  // namespace mixwalk::bench
