#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/wait_graph.h"

namespace mixwalk {

// Whether a thread goes on, as far as it is known apart from the graph. Of several things that a node needs, all or one
// of which must go on, this decides which one is named.
enum class Outlook : std::uint8_t { stands, unclear, goes_on };

// A thread that waits for another one. The numbers are indices into Snapshot::threads and Snapshot::locks.
struct WaitLink {
  static constexpr std::uint32_t kNone = WaitGraph::kNone;

  std::uint32_t thread = kNone;  // the waiting thread
  std::uint32_t lock = kNone;    // the lock for which it waits itself; kNone if it waits for a task
  // The thread that must go on: the owner of the lock, the thread that runs the task, and so on. kNone if there is
  // none, or it is unknown, or it is no thread of the dump.
  std::uint32_t owner = kNone;

  bool waits() const noexcept { return lock != kNone || owner != kNone; }
  bool operator==(const WaitLink&) const = default;
};

// The place where a chain of threads ends.
enum class ChainEnd : std::uint8_t {
  cycle,   // at a thread of the chain itself: a deadlock
  tasks,   // at tasks that wait for each other in a circle without a thread: a deadlock
  thread,  // at a thread that is not known to wait for another one
  gone,    // the owner is no thread of the dump: it has ended, or the dump leaves it out
  nobody,  // a thread holds the lock, but it is not known which
};

// Threads of which each waits for the next one. In a cycle the last link's owner is the first link's thread.
struct WaitChain {
  std::vector<WaitLink> links;  // a cycle begins at the thread with the lowest id; not empty, unless no thread waits
  ChainEnd end = ChainEnd::thread;
  // The thread at the end of the chain, which a person should look at. kNone unless `end` is ChainEnd::thread.
  std::uint32_t holder = WaitLink::kNone;
  // All threads that wait, directly or through other threads, for the end of this chain. Those of the links are among
  // them.
  std::vector<std::uint32_t> waiters;
  std::vector<std::uint32_t> circle;  // of ChainEnd::tasks: the nodes of the graph, in their order

  bool is_deadlock() const noexcept { return end == ChainEnd::cycle || end == ChainEnd::tasks; }
  bool operator==(const WaitChain&) const = default;
};

// The waits of threads for other threads.
struct GraphChains {
  std::vector<WaitLink> links;  // by index in Snapshot::threads
  // Deadlocks come first, then the chains with the most waiting threads. Of the chains with the same end only the
  // longest is here.
  std::vector<WaitChain> chains;
  // For each node of the graph, whether it can never go on, whatever the threads do that wait for nothing.
  std::vector<bool> locked;
  // For each node of the graph, the one of its needs that decides whether it goes on; kNone if there is none, or if it
  // goes on by its own way out.
  std::vector<std::uint32_t> next;

  // The nodes of the graph between a waiting thread and the next thread, in their order. Not empty for a link.
  std::vector<std::uint32_t> path(const WaitGraph& graph, std::uint32_t thread) const;
};

// `threads`: by index in Snapshot::threads. A thread that waits for a task of a thread that goes on has no link, since
// a task may be work that never ends. A thread that waits for a semaphore whose holder is not proven has none either,
// since a semaphore may be a signal. Linear.
GraphChains wait_chains(const WaitGraph& graph, std::span<const Outlook> threads);

}  // namespace mixwalk
