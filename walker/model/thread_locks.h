#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The locks that a thread holds, in the snapshot's order. They point into `snapshot`.
std::vector<const Lock*> locks_held_by(const Snapshot& snapshot, std::uint32_t os_id);

// The lock in whose wait a thread stands.
struct AwaitedLock {
  const Lock* lock = nullptr;  // into the snapshot; null if the thread waits for none that is known
  bool pulse = false;          // as LockWaiter::pulse
};
AwaitedLock lock_waited_for_by(const Snapshot& snapshot, std::uint32_t os_id);

}  // namespace mixwalk
