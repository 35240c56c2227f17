#include "walker/target/suspension/outside_moments.h"

#include <algorithm>

#include "walker/target/process_block.h"
#include "walker/target/suspension/outside_group.h"
#include "walker/target/suspension/suspension_gate.h"
#include "walker/target/win/known_stacks.h"

namespace mixwalk {
namespace {

// The limit for the stacks of all threads. The stacks are copied into memory of mixwalk.exe.
constexpr std::size_t kMaxArenaBytes = 256 << 20;
// A quarter of the deadline is for SuspendThread (group_capture.h). This is in nanoseconds per millisecond of the
// deadline.
constexpr std::uint64_t kSuspendingNs = 250'000;

}  // namespace

bool OutsideMoments::take(std::span<const NumberedThread> threads, std::uint32_t deadline_ms) {
  threads = threads.first(std::min(threads.size(), kMaxThreads));
  stacks_.drop();
  const ProcessMemory raw(process_);
  KnownStacks known(raw);
  std::vector<OutsideThread*> opened;
  std::size_t bytes = kMinArenaBytes;
  for (const NumberedThread& numbered : threads) {
    const StackLimits limits = stack_limits(stacks_, numbered.thread->teb());
    numbered.thread->set_limits(limits);
    known.add(stacks_, limits);
    bytes += std::min<std::uint64_t>(limits.base - limits.limit, kMaxArenaBytes) + kStackGrowthBytes;
    opened.push_back(numbered.thread);
  }
  bytes = std::min(bytes, kMaxArenaBytes);
  Group& group = groups_.emplace_back();
  group.arena = std::make_unique_for_overwrite<std::byte[]>(bytes);
  group.members = std::vector<GroupMember>(threads.size());
  std::uint64_t frozen_ns = 0;
  bool in_time = true;
  {
    OutsideGroup together(opened, deadline_ms);
    const SuspensionGate gate;
    frozen_ns = capture_group(together, group.members, {group.arena.get(), bytes}, known, deadline_ms * kSuspendingNs);
    in_time = together.last_frozen_ns() == 0;
  }
  moments_.push_back({frozen_ns});
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (group.members[i].sample.fault != CaptureFault::none) continue;
    taken_[threads[i].os_id] = {&group.members[i], static_cast<std::uint32_t>(moments_.size())};
  }
  return in_time;
}

bool OutsideMoments::give(std::uint32_t os_id, RawSample& sample) const {
  const auto found = taken_.find(os_id);
  if (found == taken_.end()) return false;
  const RawSample& copy = found->second.member->sample;
  sample.clear();
  sample.context = copy.context;
  sample.stopping_ns = copy.stopping_ns;
  sample.frozen_ns = copy.frozen_ns;
  // If the copy was cut off, more than it has is asked for, so that the new copy is cut off, too.
  sample.stack.fill(copy.stack, copy.stack.begin(), copy.stack.end() + (copy.stack.cut() ? 1 : 0));
  return true;
}

std::uint32_t OutsideMoments::moment_of(std::uint32_t os_id) const {
  const auto found = taken_.find(os_id);
  return found == taken_.end() ? 0 : found->second.moment;
}

void OutsideMoments::clear() {
  taken_.clear();
  groups_.clear();
  moments_.clear();
}

}  // namespace mixwalk
