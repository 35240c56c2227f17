#include "walker/hang/context_waits.h"

#include <string_view>

namespace mixwalk {
namespace {

// Whether a SynchronizationContext waits for the thread from this frame on. The runtime calls InvokeWaitMethodHelper,
// which calls the context's Wait; the JIT may make jumps of both calls, and then only the method that was called last
// is on the stack. WaitHandle calls the context's Wait itself.
bool is_wait_of_context(const std::vector<StackFrame>& frames, std::uint32_t i,
                        const std::function<bool(const Frame&)>& is_runtime) {
  constexpr std::string_view kContext = "System.Threading.SynchronizationContext.",
                             kWait = ".Wait(System.IntPtr[], System.Boolean, System.Int32)";
  const std::string_view name = frames[i].name;
  if (frames[i].kind != FrameKind::managed || i + 1 == frames.size()) return false;
  const Frame& caller = frames[i + 1];
  const bool by_handle = caller.kind == FrameKind::managed && caller.name.starts_with("System.Threading.WaitHandle.");
  if (!is_runtime(caller) && !by_handle) return false;
  if (name.ends_with(kWait)) return true;
  return name.starts_with(kContext) && (name.substr(kContext.size()).starts_with("InvokeWaitMethodHelper(") ||
                                        name.substr(kContext.size()).starts_with("WaitHelper("));
}

}  // namespace

std::uint32_t begin_of_wait(const std::vector<StackFrame>& frames,
                            const std::function<bool(const Frame&)>& is_runtime) {
  constexpr std::uint32_t kMostMethods = 16;  // of a context, between the system call and the runtime that called it
  std::uint32_t i = 0;
  while (i < frames.size() && frames[i].kind == FrameKind::native) ++i;
  // Code that the wait lets in, such as a handler of messages, is called by native code, and ends this search.
  for (std::uint32_t methods = 0; i < frames.size() && methods < kMostMethods; ++i, ++methods) {
    if (frames[i].kind != FrameKind::managed && frames[i].kind != FrameKind::stub) return 0;
    if (!is_wait_of_context(frames, i, is_runtime)) continue;
    for (++i; i < frames.size() && is_runtime(frames[i]);) ++i;
    return i < frames.size() ? i : 0;
  }
  return 0;
}

}  // namespace mixwalk
