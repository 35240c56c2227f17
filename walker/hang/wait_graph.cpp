#include "walker/hang/wait_graph.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "walker/hang/frame_names.h"
#include "walker/hang/wait_limit.h"
#include "walker/hang/waits.h"
#include "walker/model/task_types.h"

namespace mixwalk {
namespace {

// A missed deadlock is better than a wrong one.
bool may_give_up(WaitLimit limit) { return limit != WaitLimit::none; }

constexpr std::string_view kEnterUpgradeable = "System.Threading.ReaderWriterLockSlim.TryEnterUpgradeableReadLock";

// The pool has threads of its own beside its workers, which the runtime counts as threads of the pool as well.
bool is_worker(const Thread& thread) {
  constexpr std::string_view kOthers[] = {"System.Threading.PortableThreadPool+GateThread.",
                                          "System.Threading.PortableThreadPool+WaitThread.",
                                          "System.Threading.PortableThreadPool+IOCompletionPoller."};
  if (is_pool_worker(thread)) return true;
  return thread.traits.pool &&
         std::ranges::none_of(kOthers, [&](std::string_view begin) { return has_method(thread, begin); });
}

}  // namespace

WaitGraph::WaitGraph(const Snapshot& snapshot) : snapshot_(snapshot) {
  first_lock_ = static_cast<std::uint32_t>(snapshot.threads.size());
  first_task_ = first_lock_ + static_cast<std::uint32_t>(snapshot.locks.size());
  first_context_ = first_task_ + static_cast<std::uint32_t>(snapshot.tasks.size());
  contexts_ = static_cast<std::uint32_t>(snapshot.contexts.size());
  needs_one_.resize(size());
  ways_out_.resize(size());
  for (std::uint32_t i = 0; i < first_lock_; ++i) {
    threads_.try_emplace(snapshot.threads[i].os_id, i);
    if (is_worker(snapshot.threads[i])) workers_.push_back(i);
  }
  add_locks();
  add_tasks();
  add_pool();
  sort_edges();
}

WaitNode WaitGraph::node(std::uint32_t number) const noexcept {
  if (number < first_lock_) return {WaitNode::Kind::thread, number};
  if (number < first_task_) return {WaitNode::Kind::lock, number - first_lock_};
  if (number < first_context_) return {WaitNode::Kind::task, number - first_task_};
  if (number < pool_node()) return {WaitNode::Kind::context, number - first_context_};
  return {WaitNode::Kind::pool, 0};
}

// If the dump has no such thread, it proves nothing about it. Where one of several is enough, that one may go on.
void WaitGraph::need_thread(std::uint32_t from, std::uint32_t os_id) {
  const auto found = os_id == 0 ? threads_.end() : threads_.find(os_id);
  if (found != threads_.end()) {
    need(from, found->second);
  } else if (needs_one_[from]) {
    ways_out_[from] = WayOut::unknown;
  }
}

void WaitGraph::add_locks() {
  std::vector<bool> waits(first_lock_);
  for (std::uint32_t i = 0; i < snapshot_.locks.size(); ++i) {
    const Lock& lock = snapshot_.locks[i];
    const std::uint32_t number = lock_node(i);
    if (lock.kind == LockKind::semaphore) semaphores_.try_emplace(lock.address, i);
    if (lock.is_free()) {
      ways_out_[number] = WayOut::runs;  // the waiters are about to get the lock
      continue;
    }
    if (lock.kind == LockKind::semaphore) {
      needs_one_[number] = true;
      if (!lock.has_all_holders()) ways_out_[number] = WayOut::unknown;
    }
    if (lock.owner != 0) need_thread(number, lock.owner);
    need_sharers(number, lock);
    for (const std::uint32_t task : lock.task_holders) {
      if (task < snapshot_.tasks.size()) {
        need(number, task_node(task));
      } else if (needs_one_[number]) {
        ways_out_[number] = WayOut::unknown;
      }
    }
    const auto owner = lock.owner == 0 ? threads_.end() : threads_.find(lock.owner);
    for (const LockWaiter& waiter : lock.waiters) {
      const auto thread = threads_.find(waiter.os_id);
      if (waiter.pulse || thread == threads_.end() || waits[thread->second]) continue;
      if (thread == owner && can_enter_again(lock.kind)) continue;
      // It waits only for another one that may write later, which is not known here; readers do not hold it up.
      const bool upgrades = lock.owner == 0 && !lock.sharers.empty() &&
                            has_method(snapshot_.threads[thread->second], kEnterUpgradeable);
      if (upgrades) continue;
      waits[thread->second] = true;
      need(thread->second, number);
      if (may_give_up(limit_of_wait(snapshot_.threads[thread->second], lock))) {
        ways_out_[thread->second] = WayOut::time;
      }
    }
  }
}

// Folklore: a thread that has entered a ReaderWriterLockSlim so that it may write later reads as well, and waits until
// the other readers have left. A thread that only reads is refused (LockRecursionException). So one reader that waits
// for the lock does not wait for itself.
void WaitGraph::need_sharers(std::uint32_t number, const Lock& lock) {
  std::unordered_set<std::uint32_t> waiters;
  if (lock.kind == LockKind::threading_lock && !lock.sharers.empty()) {
    for (const LockWaiter& waiter : lock.waiters) waiters.insert(waiter.os_id);
  }
  const auto waits = [&](std::uint32_t sharer) { return waiters.contains(sharer); };
  const bool one_upgrades = std::ranges::count_if(lock.sharers, waits) == 1;
  for (const std::uint32_t sharer : lock.sharers) {
    if (!one_upgrades || !waits(sharer)) need_thread(number, sharer);
  }
  if (one_upgrades && lock.sharers.size() == 1) ways_out_[number] = WayOut::runs;
}

void WaitGraph::add_tasks() {
  for (std::uint32_t i = 0; i < first_lock_; ++i) {
    const std::uint32_t task = snapshot_.threads[i].waits_for_task;
    // The thread is about to see that an ended task has ended.
    if (task >= snapshot_.tasks.size() || has_ended(snapshot_.tasks[task].status)) continue;
    need(i, task_node(task));
    if (may_give_up(limit_of_wait(snapshot_.threads[i]))) ways_out_[i] = WayOut::time;
  }
  for (std::uint32_t i = 0; i < contexts_; ++i) {
    schedulers_.try_emplace(snapshot_.contexts[i].address, i);
    need_thread(context_node(i), snapshot_.contexts[i].thread);
  }
  for (std::uint32_t i = 0; i < snapshot_.tasks.size(); ++i) add_task(i);
}

void WaitGraph::add_task(std::uint32_t index) {
  const AsyncTask& task = snapshot_.tasks[index];
  const std::uint32_t number = task_node(index);
  switch (task.status) {
    case TaskStatus::done:
    case TaskStatus::faulted:
    case TaskStatus::cancelled:
      if (task.continues_on < contexts_) {
        need(number, context_node(task.continues_on));
      } else if (task.not_resumed && task.continues_on == AsyncTask::kNone) {
        need_pool(number);
      } else {
        ways_out_[number] = task.continues_on == AsyncTask::kNone ? WayOut::runs : WayOut::unknown;
      }
      return;
    case TaskStatus::running:
      need_thread(number, task.thread);
      if (task.thread == 0) ways_out_[number] = WayOut::runs;
      return;
    case TaskStatus::queued: need_queue(number, task); return;
    case TaskStatus::waiting: break;
  }
  switch (task.kind) {
    case TaskKind::delay:
      // Folklore: the thread pool runs what timers do. Real case: a pool of which all workers wait
      // for methods with Task.Delay, and whose queue has the timers. Test: TaskFindingsTest.
      if (task.due_ms == 0 && task.awaits.empty() && snapshot_.pool.queued > 0)
        return need_pool(number);
      ways_out_[number] = WayOut::time;
      return;
    case TaskKind::channel:
    case TaskKind::io: ways_out_[number] = WayOut::outside; return;
    default: need_awaited(number, task);
  }
}

// What is in no known queue may be in that of the pool only if that has work.
void WaitGraph::need_pool(std::uint32_t number) {
  if (snapshot_.pool.queued > 0) need(number, pool_node());
}

// A task in the queue of a TaskScheduler names it. All other tasks in a queue are in that of the pool.
void WaitGraph::need_queue(std::uint32_t number, const AsyncTask& task) {
  if (task.object == 0) {
    need_pool(number);
    return;
  }
  const auto found = schedulers_.find(task.object);
  if (found != schedulers_.end()) need(number, context_node(found->second));
}

void WaitGraph::need_awaited(std::uint32_t number, const AsyncTask& task) {
  const bool any = task.kind == TaskKind::when_any, combines = any || task.kind == TaskKind::when_all;
  needs_one_[number] = any;
  if (any && (task.awaits_left_out != 0 || is_wait_async(task))) ways_out_[number] = WayOut::unknown;
  if (task.object != 0) {
    const auto semaphore = semaphores_.find(task.object);
    if (semaphore != semaphores_.end()) need(number, lock_node(semaphore->second));
  }
  for (const std::uint32_t index : task.awaits) {
    if (index >= snapshot_.tasks.size()) {
      if (any) ways_out_[number] = WayOut::unknown;
      continue;
    }
    const AsyncTask& awaited = snapshot_.tasks[index];
    if (has_ended(awaited.status) && combines) {
      // The end of a task is told to WhenAll and WhenAny without a queue.
      if (any) ways_out_[number] = WayOut::runs;
      continue;
    }
    need(number, task_node(index));
    if (combines || has_ended(awaited.status) || awaited.continues_on >= contexts_) continue;
    need(number, context_node(awaited.continues_on));
  }
}

void WaitGraph::add_pool() {
  const std::uint32_t number = pool_node();
  needs_one_[number] = true;
  for (const std::uint32_t worker : workers_) need(number, worker);
  const ThreadPoolState& pool = snapshot_.pool;
  const bool has_all = pool.workers >= 0 && static_cast<std::size_t>(pool.workers) <= workers_.size() &&
                       !snapshot_.omissions.threads;
  if (!has_all || pool.max < 0 || pool.workers < pool.max) ways_out_[number] = WayOut::unknown;
}

void WaitGraph::sort_edges() {
  begins_.assign(std::size_t{size()} + 1, 0);
  for (const Edge& edge : edges_) ++begins_[edge.from + 1];
  for (std::uint32_t i = 0; i < size(); ++i) begins_[i + 1] += begins_[i];
  needs_.resize(edges_.size());
  std::vector<std::uint32_t> at(begins_.begin(), begins_.end() - 1);
  for (const Edge& edge : edges_) needs_[at[edge.from]++] = edge.to;
  edges_ = {};
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (!needs(i).empty() || ways_out_[i] != WayOut::none) continue;
    ways_out_[i] = is_thread(i) ? WayOut::runs : WayOut::unknown;
  }
}

std::vector<std::uint32_t> order_of_going_on(const WaitGraph& graph, const std::vector<bool>& by_itself) {
  const std::uint32_t size = graph.size();
  std::vector<std::uint32_t> begins(std::size_t{size} + 1), missing(size);
  for (std::uint32_t node = 0; node < size; ++node) {
    for (const std::uint32_t need : graph.needs(node)) ++begins[need + 1];
    missing[node] = graph.needs_one(node) ? 1 : static_cast<std::uint32_t>(graph.needs(node).size());
  }
  for (std::uint32_t node = 0; node < size; ++node) begins[node + 1] += begins[node];
  std::vector<std::uint32_t> needed_by(begins[size]), at(begins.begin(), begins.end() - 1);
  for (std::uint32_t node = 0; node < size; ++node) {
    for (const std::uint32_t need : graph.needs(node)) needed_by[at[need]++] = node;
  }
  std::vector<std::uint32_t> order(size, WaitGraph::kNone), queue;
  const auto goes_on = [&](std::uint32_t node) {
    order[node] = static_cast<std::uint32_t>(queue.size());
    queue.push_back(node);
  };
  for (std::uint32_t node = 0; node < size; ++node) {
    if (by_itself[node]) goes_on(node);
  }
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t node = queue[next];
    for (std::uint32_t i = begins[node]; i < begins[node + 1]; ++i) {
      const std::uint32_t waiter = needed_by[i];
      if (order[waiter] == WaitGraph::kNone && --missing[waiter] == 0) goes_on(waiter);
    }
  }
  return order;
}

}  // namespace mixwalk
