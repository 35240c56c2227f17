#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"
#include "walker/model/lock.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The place of a thread's stack, from its lowest page to its base.
struct ThreadStack {
  std::uint32_t os_id = 0;
  std::uint64_t limit = 0, base = 0;
  std::uint64_t top = 0;  // Rsp when the thread was read; 0 if it was not
  bool managed = false;   // the thread has managed frames, so the runtime must know it
  bool in_system_call = false;

  bool operator==(const ThreadStack&) const = default;
};

// Limits of a search for the locks of managed code.
struct MonitorLimits {
  std::chrono::milliseconds time = std::chrono::seconds(10);
  std::size_t locks = 10'000;
  // For System.Threading.Lock: how many threads may be captured again, and about how many objects may be asked.
  std::size_t waiters = 1000, objects = 100'000;
};
// The texts for Snapshot::locks_missing if a limit ended a search.
inline constexpr char kLocksTimeOver[] = "the time for it was over", kTooManyLocks[] = "there are too many";

// A monitor, with the address that identifies it while its object may move. That is the address of its sync block, or,
// for a thin lock, of the object.
struct FoundMonitor {
  Lock lock;
  std::uint64_t key = 0;

  bool operator==(const FoundMonitor&) const = default;
};
struct FoundMonitors {
  std::vector<FoundMonitor> monitors;  // sorted by their objects; then the pause of all managed code, if there is one
  std::string missing;                 // as Snapshot::locks_missing

  bool operator==(const FoundMonitors&) const = default;
};

// The monitors of managed objects that threads hold or wait for. Nothing in the target is trusted. Not frozen-safe.
//
// - For an object with a sync block, the runtime's debugging library says which thread holds it.
// - A waiting thread has a record on its stack, to which the runtime's Thread points. It contains the lock, the
//   AppDomain, whether the thread waits to enter or to be pulsed, and the time-out. (DebugBlockingItem of the runtime's
//   sources, public.)
// - If a thread pauses all managed code, and waits for a thread that is in a system call in the runtime's cooperative
//   mode, that is a lock of the kind pause. A thread in cooperative mode that runs stops soon.
// - An object without a sync block has its owner in its header. (A thin lock; ObjHeader of the runtime's sources,
//   public.) Such objects are found by the pointers on the owner's own stack. A thread that waits for a thin lock turns
//   it into a sync block.
//
// `images`: words that point into these are not objects.
FoundMonitors find_monitors(ClrQuestions& clr, const MemoryReader& memory, std::span<const ThreadStack> stacks,
                            std::span<const Module> images, const MonitorLimits& limits = {});

// The locks on which two reads of a running process agree: those that both found with the same owner, each with the
// waiting threads that both found. So a lock that changed its owner in between is left out.
FoundMonitors consistent_monitors(const FoundMonitors& first, const FoundMonitors& second);

}  // namespace mixwalk
