#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The waits of threads for other threads, by the locks of one dump.

// A thread that waits for a lock. The numbers are indices into Snapshot::threads and Snapshot::locks.
struct LockLink {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  std::uint32_t thread = kNone;  // the waiting thread; kNone if the dump has no such thread
  std::uint32_t lock = kNone;
  std::uint32_t owner = kNone;   // kNone if there is none, or it is unknown, or it is no thread of the dump

  bool operator==(const LockLink&) const = default;
};

// The place where a chain of owners ends.
enum class ChainEnd : std::uint8_t {
  cycle,   // at a thread of the chain itself: a deadlock
  thread,  // at a thread that does not wait for a known lock
  gone,    // the owner is no thread of the dump: it has ended, or the dump leaves it out
  nobody,  // a thread holds the lock, but it is not known which
};

// Threads of which each waits for the next one. In a cycle the last link's owner is the first link's thread.
struct LockChain {
  std::vector<LockLink> links;  // not empty; a cycle begins at the thread with the lowest id
  ChainEnd end = ChainEnd::thread;
  // The thread at the end of the chain, which a person should look at. kNone unless `end` is ChainEnd::thread.
  std::uint32_t holder = LockLink::kNone;
  // All threads that wait, directly or through other threads, for the end of this chain. Those of the links are among
  // them.
  std::vector<std::uint32_t> waiters;

  bool operator==(const LockChain&) const = default;
};

// Linear in locks and waiters. Any snapshot may be given. If it says that a thread waits for two locks, the first
// counts.
struct LockGraph {
  std::vector<LockLink> links;    // by index in Snapshot::threads; LockLink::lock is kNone if it waits for no lock
  // Cycles come first, then the chains with the most waiting threads. Of the chains with the same end only the longest
  // is here.
  std::vector<LockChain> chains;
};
LockGraph lock_graph(const Snapshot& snapshot);

}  // namespace mixwalk
