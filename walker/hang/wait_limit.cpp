#include "walker/hang/wait_limit.h"

#include <algorithm>
#include <string_view>

#include "walker/hang/context_waits.h"

namespace mixwalk {
namespace {

constexpr std::string_view kThreading = "System.Threading.";
constexpr std::string_view kCollection = "System.Collections.Concurrent.BlockingCollection";

// Methods that have a limit, or may be called by one without a limit that the JIT has made one method of with its
// caller.
constexpr std::string_view kMayHaveLimit[] = {
    "System.Threading.Tasks.Task.Wait(System.TimeSpan",
    "System.Threading.Tasks.Task.Wait(System.Int32",
    "System.Threading.Tasks.Task.Wait(System.Threading.CancellationToken",
    "System.Threading.Tasks.Task.WaitAll(System.Threading.Tasks.Task[], System.",
    "System.Threading.Tasks.Task.WaitAll(System.Collections.Generic.IEnumerable",
    "System.Threading.Tasks.Task.WaitAllCore(",
    "System.Threading.Tasks.Task.WaitAny(System.Threading.Tasks.Task[], System.",
    "System.Threading.Tasks.Task.WaitAnyCore(",
    "System.Threading.Thread.Join(System.",
    "System.Threading.WaitHandle.WaitOne(System.",
    "System.Threading.WaitHandle.WaitOneNoCheck(",
    "System.Threading.WaitHandle.WaitMultiple",
    "System.Threading.WaitHandle.WaitAny(",
    "System.Threading.WaitHandle.WaitAll(",
    "System.Threading.SemaphoreSlim.Wait(System.",
    "System.Threading.SemaphoreSlim.WaitCore(",
    "System.Threading.Monitor.ReliableEnterTimeout(",
    "System.Threading.ReaderWriterLockSlim.TryEnter"};

// Enter calls TryEnterSlow, or TryEnter with a TimeoutTracker.
bool is_try(const Frame& frame) {
  return frame.name.find("TryEnter") != std::string::npos && frame.name.find("TryEnterSlow(") == std::string::npos &&
         frame.name.find("TimeoutTracker") == std::string::npos;
}

// Whether the thread handles messages and COM calls while it waits.
bool handles_messages(const Frame& frame) {
  constexpr std::string_view kWaits[] = {"CoWaitForMultiple", "MsgWaitForMultiple", "NtUserMsgWaitForMultiple"};
  return std::ranges::any_of(kWaits, [&](std::string_view begin) { return frame.name.starts_with(begin); });
}

// A thread alone does not say which images are the runtime. Only the runtime calls a context's Wait from native code.
std::uint32_t begin_of_wait(const Thread& thread) {
  return begin_of_wait(thread.stack.frames, [](const Frame& frame) { return frame.kind == FrameKind::native; });
}

}  // namespace

// Folklore: a method with a limit often jumps to the one that does the work, which is then the outermost. The method
// without a limit calls it, and is on the stack. Real cases: Task.Wait(Int32), SemaphoreSlim.Wait(Int32) and
// ReaderWriterLockSlim.TryEnterWriteLock(Int32) of .NET 10 were deadlocks, although they gave up after their time. If
// the JIT has made one method of a method without a limit and of its caller, the frames do not say which of them the
// program has called. Test: TaskFindingsTest.
WaitLimit limit_of_wait(const Thread& thread) {
  if (thread.traits.unlimited) return WaitLimit::none;
  if (thread.traits.limited) return WaitLimit::some;
  const Frame* outermost = nullptr;
  bool native = true, native_try = false, tries_collection = false;
  const std::vector<StackFrame>& frames = thread.stack.frames;
  const std::uint32_t begin = begin_of_wait(thread);
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    native = i < begin || (native && frame.kind == FrameKind::native);
    native_try = native_try || (native && is_try(frame));  // of the runtime: JIT_MonTryEnter
    if (i < begin || frame.kind != FrameKind::managed) continue;
    if (frame.name.starts_with(kCollection)) {
      // The outermost method decides: Add calls TryAddWithNoTimeValidation, and TryAdd jumps to it.
      tries_collection = frame.name.find(".TryAdd") != std::string::npos;
    } else if (frame.name.starts_with(kThreading)) {
      outermost = &frame;
    } else {
      break;
    }
  }
  if (native_try || tries_collection || (outermost != nullptr && is_try(*outermost))) return WaitLimit::some;
  const bool may = outermost != nullptr && std::ranges::any_of(kMayHaveLimit, [&](std::string_view begin) {
    return outermost->name.starts_with(begin);
  });
  return may ? WaitLimit::unknown : WaitLimit::none;
}

// Folklore: in .NET 8, and in composite images, no method of Monitor is on the stack of a thread that enters one, also
// if it has called Monitor.TryEnter with a time, and the JIT has made one method of that and of the caller. The time
// limit is then the argument of the system's call (timeouts.h), but if the call handles messages, it is not known where
// the limit is. Real case: a window that tries a monitor for some seconds, so as not to freeze. Remedy: the runtime's
// functions say it if they have names; otherwise it is not known. Test: TaskFindingsTest.
WaitLimit limit_of_wait(const Thread& thread, const Lock& lock) {
  const WaitLimit limit = limit_of_wait(thread);
  if (limit != WaitLimit::none || lock.kind != LockKind::monitor || thread.traits.unlimited) return limit;
  const std::vector<StackFrame>& frames = thread.stack.frames;
  const std::uint32_t begin = begin_of_wait(thread);
  bool handles = begin != 0;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    if (frame.kind == FrameKind::native) {
      if (frame.name.starts_with("JIT_MonEnter") || frame.name.starts_with("JIT_MonReliableEnter")) return limit;
      handles = handles || handles_messages(frame);
    } else if (i >= begin && frame.kind == FrameKind::managed) {
      return handles && !frame.name.starts_with(kThreading) ? WaitLimit::unknown : limit;
    }
  }
  return limit;
}

}  // namespace mixwalk
