#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Something that waits, or that others wait for, in one dump.
struct WaitNode {
  enum class Kind : std::uint8_t { thread, lock, task, context, pool };

  Kind kind = Kind::thread;
  std::uint32_t index = 0;  // in Snapshot::threads, locks, tasks or contexts; 0 for the pool

  bool operator==(const WaitNode&) const = default;
};

// Why a node may go on, whatever the nodes do that it needs.
enum class WayOut : std::uint8_t {
  none,     // it goes on only if they do
  runs,     // it waits for nothing that the dump shows, or is about to go on
  time,     // a timer ends its wait
  outside,  // the system, another process, or whoever writes to a channel
  unknown,  // what ends its wait is not proven
};

// Who needs whom to go on: threads, locks, tasks, contexts and the thread pool of one dump. The waits of a thread for a
// lock, an answer or the end of a thread, for a task, and what that task waits for in turn, are edges of one graph. An
// edge is here only if the dump proves it. Any snapshot may be given: indices that name nothing are left out. Refers to
// the snapshot. Linear. Pure.
//
// - A thread needs the lock and the task for which it waits. If the dump says that it waits for two locks, the first
//   counts. A task that has ended holds up no thread.
// - A lock needs all threads that hold it. A semaphore needs one of its holders, and has another way out if not all of
//   them are known.
// - A task needs what it awaits, the thread that runs it, the pool in whose queue it is, or the semaphore at which it
//   waits. A timer that is due needs the pool. Task.WhenAny needs one of its tasks. An async method that goes on in a
//   context needs that context too.
// - An ended task of which an async method has not taken note needs the context or the pool that runs this method.
// - A context needs the thread that serves it.
// - The pool needs one of its workers. It has another way out as long as it may get a further worker.
class WaitGraph {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  explicit WaitGraph(const Snapshot& snapshot);

  // Nodes have numbers from 0 on: the threads, the locks, the tasks, the contexts, the pool.
  std::uint32_t size() const noexcept { return pool_node() + 1; }
  WaitNode node(std::uint32_t number) const noexcept;
  bool is_thread(std::uint32_t number) const noexcept { return number < first_lock_; }
  std::uint32_t lock_node(std::uint32_t lock) const noexcept { return first_lock_ + lock; }
  std::uint32_t task_node(std::uint32_t task) const noexcept { return first_task_ + task; }
  std::uint32_t context_node(std::uint32_t context) const noexcept { return first_context_ + context; }
  std::uint32_t pool_node() const noexcept { return first_context_ + contexts_; }

  // The nodes that must go on before this one does: all of them, or one of them if needs_one(). There may be none.
  std::span<const std::uint32_t> needs(std::uint32_t number) const noexcept {
    return std::span(needs_).subspan(begins_[number], begins_[number + 1] - begins_[number]);
  }
  bool needs_one(std::uint32_t number) const noexcept { return needs_one_[number]; }
  // Not `none` for a node that needs nothing.
  WayOut way_out(std::uint32_t number) const noexcept { return ways_out_[number]; }
  // The workers of the thread pool, as indices into Snapshot::threads.
  std::span<const std::uint32_t> workers() const noexcept { return workers_; }

  // The index of the thread with this id in Snapshot::threads; kNone if there is none.
  std::uint32_t thread_of(std::uint32_t os_id) const {
    const auto found = threads_.find(os_id);
    return found == threads_.end() ? kNone : found->second;
  }

  const Snapshot& snapshot() const noexcept { return snapshot_; }

 private:
  void add_locks();
  void add_tasks();
  void add_pool();
  void add_task(std::uint32_t index);
  void need_awaited(std::uint32_t number, const AsyncTask& task);
  void need_queue(std::uint32_t number, const AsyncTask& task);
  void need_pool(std::uint32_t number);
  void need_sharers(std::uint32_t number, const Lock& lock);
  void need(std::uint32_t from, std::uint32_t to) { edges_.push_back({from, to}); }
  void need_thread(std::uint32_t from, std::uint32_t os_id);
  void sort_edges();

  struct Edge {
    std::uint32_t from = 0, to = 0;
  };

  const Snapshot& snapshot_;
  std::uint32_t first_lock_ = 0, first_task_ = 0, first_context_ = 0, contexts_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;  // by OS id
  std::unordered_map<std::uint64_t, std::uint32_t> semaphores_, schedulers_;  // locks and contexts, by address
  std::vector<Edge> edges_;  // until they are sorted
  std::vector<std::uint32_t> needs_, begins_;
  std::vector<bool> needs_one_;
  std::vector<WayOut> ways_out_;
  std::vector<std::uint32_t> workers_;
};

// For each node of the graph, its place in the order in which nodes go on if those of `by_itself` do; kNone for a node
// that never goes on. `by_itself`: by node. Linear.
std::vector<std::uint32_t> order_of_going_on(const WaitGraph& graph, const std::vector<bool>& by_itself);

}  // namespace mixwalk
