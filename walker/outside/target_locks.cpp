#include "walker/outside/target_locks.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "walker/outside/process_block.h"
#include "walker/outside/threading_locks.h"

namespace mixwalk {
namespace {

// Of each thread's first frame.
std::map<std::uint32_t, std::uint64_t> tops_of(const Snapshot& snapshot) {
  std::map<std::uint32_t, std::uint64_t> tops;
  for (const Thread& thread : snapshot.threads) {
    if (!thread.stack.frames.empty()) tops[thread.os_id] = thread.stack.frames.front().stack_pointer;
  }
  return tops;
}

bool has_managed_frame(const Thread& thread) {
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) { return frame.kind == FrameKind::managed; });
}

std::vector<ThreadStack> stacks_of(const Snapshot& snapshot, const Target& target) {
  const auto tops = tops_of(snapshot);
  std::unordered_set<std::uint32_t> managed;
  for (const Thread& thread : snapshot.threads) {
    if (has_managed_frame(thread)) managed.insert(thread.os_id);
  }
  std::vector<ThreadStack> stacks;
  for (const TargetThread& thread : target.threads()) {
    const StackLimits limits = stack_limits(target.memory(), thread.teb);
    ThreadStack stack{.os_id = thread.os_id, .limit = limits.limit, .base = limits.base,
                      .managed = managed.contains(thread.os_id)};
    if (const auto top = tops.find(thread.os_id); top != tops.end() && limits.contains(top->second)) {
      stack.top = top->second;
    }
    stacks.push_back(stack);
  }
  return stacks;
}

FoundMonitors look(const Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits) {
  return find_monitors(clr, target.memory(), stacks_of(snapshot, target), target.modules(), limits);
}

// False: it stands still.
bool runs(Target& target, ClrQuestions& clr) {
  if (!target.forget_memory()) return false;
  clr.target_ran();
  return true;
}

}  // namespace

void add_managed_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits) {
  const bool live = runs(target, clr);
  FoundMonitors found = look(snapshot, target, clr, limits);
  if (live) {
    runs(target, clr);
    found = agreed(found, look(snapshot, target, clr, limits));
  }
  for (FoundMonitor& monitor : found.monitors) snapshot.locks.push_back(std::move(monitor.lock));
  snapshot.locks_missing = std::move(found.missing);
  add_threading_locks(snapshot, target, clr, limits);
}

}  // namespace mixwalk
