#include "walker/locks/target_locks.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unmanaged/ascii_lower.h"
#include "walker/locks/reader_locks.h"
#include "walker/locks/threading_locks.h"
#include "walker/model/runtime_images.h"
#include "walker/model/thread_locks.h"
#include "walker/target/process_block.h"

namespace mixwalk {
namespace {

bool has_managed_frame(const Thread& thread) {
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) { return frame.kind == FrameKind::managed; });
}

// Whether code of the program, and not the runtime itself, has made the system call that the thread is in. Folklore: a
// thread that returns to managed code waits in the runtime for the end of a collection. The stacks and the runtime's
// threads are read at different moments, so such a thread may count as being in managed code. Real case: in a healthy
// program that collects all the time, the collection "waited for" a thread that waited for its end. Remedy: no thread
// that the runtime itself holds keeps the runtime waiting. Tests: TargetLocksTest, healthy_test.
bool called_the_system(const Snapshot& snapshot, const std::vector<bool>& runtime, const Stack& stack) {
  const auto module_of = [](const Frame& frame) { return static_cast<std::size_t>(frame.module); };
  const Frame& leaf = stack.frames.front();
  if (leaf.kind != FrameKind::native || leaf.module == Frame::kNone) return false;
  const std::string image = ascii_lower(module_name(snapshot.modules[module_of(leaf)]));
  if (image != "ntdll.dll" && image != "win32u.dll") return false;
  const auto end = std::ranges::find_if(stack.frames, [](const Frame& at) { return at.kind != FrameKind::native; });
  return std::none_of(stack.frames.begin(), end, [&](const Frame& frame) {
    return frame.module != Frame::kNone && runtime[module_of(frame)];
  });
}

using ThreadIds = std::set<std::uint32_t>;

// `only`: the threads whose stacks are wanted; null: all.
std::vector<ThreadStack> stacks_of(const Snapshot& snapshot, const Target& target, const ThreadIds* only) {
  std::unordered_map<std::uint32_t, const Thread*> captured;  // those with frames, by OS id
  for (const Thread& thread : snapshot.threads) {
    if (!thread.stack.frames.empty()) captured.try_emplace(thread.os_id, &thread);
  }
  const std::vector<bool> runtime = runtime_images(snapshot);
  std::vector<ThreadStack> stacks;
  for (const TargetThread& thread : target.threads()) {
    if (only != nullptr && !only->contains(thread.os_id)) continue;
    const StackLimits limits = stack_limits(target.memory(), thread.teb);
    ThreadStack stack{.os_id = thread.os_id, .limit = limits.limit, .base = limits.base};
    if (const auto found = captured.find(thread.os_id); found != captured.end()) {
      const std::uint64_t top = found->second->stack.frames.front().stack_pointer;
      if (limits.contains(top)) stack.top = top;
      stack.managed = has_managed_frame(*found->second);
      stack.in_system_call = called_the_system(snapshot, runtime, found->second->stack);
    }
    stacks.push_back(stack);
  }
  return stacks;
}

FoundMonitors read_locks(const Snapshot& snapshot, Target& target, ClrQuestions& clr, const ThreadIds* only = nullptr) {
  return find_monitors(clr, target.memory(), stacks_of(snapshot, target, only), target.modules());
}

// The threads that hold the locks, or wait for them.
ThreadIds threads_of(const FoundMonitors& found) {
  ThreadIds threads;
  for (const FoundMonitor& monitor : found.monitors) {
    threads.insert(monitor.lock.owner);
    for (const LockWaiter& waiter : monitor.lock.waiters) threads.insert(waiter.os_id);
  }
  return threads;
}

// Returns false if the target does not run.
bool runs(Target& target, ClrQuestions& clr) {
  if (!target.forget_memory()) return false;
  clr.target_ran();
  return true;
}

}  // namespace

void add_managed_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  const bool live = runs(target, clr);
  FoundMonitors found = read_locks(snapshot, target, clr);
  // Only what both looks find counts, so the second one needs only the threads of the locks that the first one found.
  // Of 200 threads, most of the time goes to their stacks.
  if (live && !found.monitors.empty()) {
    const ThreadIds threads = threads_of(found);
    runs(target, clr);
    found = consistent_monitors(found, read_locks(snapshot, target, clr, &threads));
  }
  std::vector<Lock> monitors;
  for (FoundMonitor& monitor : found.monitors) monitors.push_back(std::move(monitor.lock));
  add_locks(snapshot, std::move(monitors));
  snapshot.locks_missing = std::move(found.missing);
  add_threading_locks(snapshot, target, clr);
  add_readers(snapshot, target, clr);
}

}  // namespace mixwalk
