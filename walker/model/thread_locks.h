#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The locks that a thread holds, alone or together with others, in the snapshot's order. They point into `snapshot`.
std::vector<const Lock*> locks_held_by(const Snapshot& snapshot, std::uint32_t os_id);

// The lock for which a thread waits.
struct AwaitedLock {
  const Lock* lock = nullptr;  // points into the snapshot; null if the thread waits for no known lock
  bool pulse = false;          // as LockWaiter::pulse
};
AwaitedLock lock_waited_for_by(const Snapshot& snapshot, std::uint32_t os_id);

// Adds locks behind those of the same kind. A snapshot has its locks in the order of their kinds.
void add_locks(Snapshot& snapshot, std::vector<Lock> locks);

}  // namespace mixwalk
