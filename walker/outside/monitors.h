#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/model/lock.h"
#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"

namespace mixwalk {

// Where a thread's stack lies: from its lowest page to its base.
struct ThreadStack {
  std::uint32_t os_id = 0;
  std::uint64_t limit = 0, base = 0;
  std::uint64_t top = 0;  // Rsp when the thread was looked at; 0 if it was not
  bool managed = false;   // it has managed frames, so the runtime must know it

  bool operator==(const ThreadStack&) const = default;
};

// What a look for the locks of managed code may take.
struct MonitorLimits {
  std::chrono::milliseconds time = std::chrono::seconds(10);
  std::size_t locks = 10'000;
  // For System.Threading.Lock: the limits for threads that are captured again, and for objects that are asked about.
  std::size_t waiters = 1000, objects = 100'000;
};
// The text for Snapshot::locks_missing where a limit ended a look.
inline constexpr char kLocksTimeOver[] = "the time for it was over", kTooManyLocks[] = "there are too many";

// A monitor, and the address that identifies it while its object may move: that of its sync block, or, for a thin lock,
// that of the object.
struct FoundMonitor {
  Lock lock;
  std::uint64_t key = 0;

  bool operator==(const FoundMonitor&) const = default;
};
struct FoundMonitors {
  std::vector<FoundMonitor> monitors;  // by their objects
  std::string missing;                 // as Snapshot::locks_missing

  bool operator==(const FoundMonitors&) const = default;
};

// The monitors of managed objects that a thread holds or waits for. Nothing in the target is trusted. Not frozen-safe.
//
// - An object with a sync block: the runtime's debugging library says which thread holds it.
// - A waiting thread has a record on its stack, to which the runtime's Thread points: the lock, the AppDomain, whether
//   the thread waits to enter or to be pulsed, and the time-out (DebugBlockingItem of the runtime's sources, public).
// - An object without a sync block has its owner in its header (a thin lock; ObjHeader of the runtime's sources,
//   public). Such objects are found by the pointers on the owner's own stack. A thread that waits for a thin lock turns
//   it into a sync block.
//
// `images`: words that point into these are no objects.
FoundMonitors find_monitors(ClrQuestions& clr, const MemoryReader& memory, std::span<const ThreadStack> stacks,
                            std::span<const Module> images, const MonitorLimits& limits = {});

// What two looks at a running process agree on: each lock that both found with the same owner, and of the threads that
// wait for it those that both found. So a lock that changed its owner in between is left out.
FoundMonitors agreed(const FoundMonitors& first, const FoundMonitors& second);

}  // namespace mixwalk
