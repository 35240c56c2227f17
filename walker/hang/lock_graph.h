#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Who waits for whom, by the locks of one dump.

// A thread that waits for a lock. Indices into Snapshot::threads and Snapshot::locks.
struct LockLink {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  std::uint32_t thread = kNone;  // the one that waits; kNone if the dump has no such thread
  std::uint32_t lock = kNone;
  std::uint32_t owner = kNone;   // kNone if nobody, unknown, or no thread of the dump

  bool operator==(const LockLink&) const = default;
};

// Where a chain of owners ends.
enum class ChainEnd : std::uint8_t {
  cycle,   // at a thread of the chain itself: a deadlock
  thread,  // at a thread that waits for no lock that is known
  gone,    // the owner is no thread of the dump: it has ended, or was not looked at
  nobody,  // somebody holds the lock, and nobody can say which thread
};

// Threads of which each waits for the next one. A cycle is closed: the last link's owner is the first link's thread.
struct LockChain {
  std::vector<LockLink> links;  // not empty; a cycle begins at the thread with the lowest id
  ChainEnd end = ChainEnd::thread;
  // The thread at the end: the one to look at. kNone but for ChainEnd::thread.
  std::uint32_t holder = LockLink::kNone;
  // All threads that wait, directly or through others, for the end of this chain; those of the links are among them.
  std::vector<std::uint32_t> waiters;

  bool operator==(const LockChain&) const = default;
};

// Linear in locks and waiters. Any snapshot may be given: where a thread is said to wait for two locks, the first counts.
struct LockGraph {
  std::vector<LockLink> links;    // by place in Snapshot::threads; LockLink::lock is kNone where a thread waits for none
  // Cycles first, then by how many threads wait. Of the chains with the same end only the longest is here.
  std::vector<LockChain> chains;
};
LockGraph lock_graph(const Snapshot& snapshot);

}  // namespace mixwalk
