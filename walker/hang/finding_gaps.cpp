#include "walker/hang/finding_gaps.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"

namespace mixwalk {

void add_finding_gaps(const Snapshot& last, std::uint32_t dump, std::span<const ThreadHistory> threads,
                      std::vector<std::string>& gaps) {
  if (!last.locks_missing.empty()) gaps.push_back("Not all locks are known: " + clipped(last.locks_missing));
  std::set<std::uint32_t> in_locks;
  for (const Lock& lock : last.locks) {
    for (const LockWaiter& waiter : lock.waiters) in_locks.insert(waiter.os_id);
  }
  std::size_t ownerless = 0, clockless = 0, skipped = 0;
  for (const ThreadHistory& thread : threads) {
    if (thread.last().dump != dump) continue;
    const Wait& wait = thread.last().wait;
    constexpr std::string_view kLocks[] = {"monitor-enter", "native-monitor-enter", "critical-section", "srw-lock",
                                           "loader-lock", "heap", "lock-enter"};
    const bool for_lock = std::ranges::find(kLocks, wait.rule) != std::end(kLocks);
    ownerless += for_lock && !in_locks.contains(thread.os_id);
    clockless += thread.verdict == Verdict::stuck && thread.since != dump && !thread.cpu;
    skipped += !last.threads[thread.last().thread].skipped.empty();
  }
  if (ownerless != 0) {
    gaps.push_back(count_words(ownerless, "thread") + (ownerless == 1 ? " waits" : " wait") +
                   " for a lock of which the dump does not say who holds it");
  }
  if (clockless != 0) {
    gaps.push_back("Of " + count_words(clockless, "thread") + " it is not known whether " +
                   (clockless == 1 ? "it" : "they") +
                   " ran in between: the dumps do not have processor times of both moments");
  }
  if (skipped != 0) gaps.push_back(count_words(skipped, "thread") + " of the last dump had no stack");
}

}  // namespace mixwalk
