#include "walker/model/thread_locks.h"

namespace mixwalk {

std::vector<const Lock*> locks_held_by(const Snapshot& snapshot, std::uint32_t os_id) {
  std::vector<const Lock*> held;
  for (const Lock& lock : snapshot.locks) {
    if (os_id != 0 && lock.owner == os_id) held.push_back(&lock);
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

}  // namespace mixwalk
