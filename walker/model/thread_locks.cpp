#include "walker/model/thread_locks.h"

#include <algorithm>
#include <iterator>

namespace mixwalk {

std::vector<const Lock*> locks_held_by(const Snapshot& snapshot, std::uint32_t os_id) {
  std::vector<const Lock*> held;
  for (const Lock& lock : snapshot.locks) {
    const bool shares = std::ranges::find(lock.sharers, os_id) != lock.sharers.end();
    if (os_id != 0 && (lock.owner == os_id || shares)) held.push_back(&lock);
  }
  return held;
}

AwaitedLock lock_waited_for_by(const Snapshot& snapshot, std::uint32_t os_id) {
  for (const Lock& lock : snapshot.locks) {
    for (const LockWaiter& waiter : lock.waiters) {
      if (waiter.os_id == os_id) return {&lock, waiter.pulse};
    }
  }
  return {};
}

void add_locks(Snapshot& snapshot, std::vector<Lock> locks) {
  std::ranges::move(locks, std::back_inserter(snapshot.locks));
  std::ranges::stable_sort(snapshot.locks, {}, &Lock::kind);
}

}  // namespace mixwalk
