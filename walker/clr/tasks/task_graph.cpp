#include "walker/clr/tasks/task_graph.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "walker/clr/tasks/heap_tasks.h"
#include "walker/clr/tasks/posted.h"

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// How often the heap's answers are asked again for tasks that they led to.
constexpr int kMaxRounds = 16;
constexpr std::size_t kMaxContexts = 256;
// The limit for tasks of the heap that are looked at: 16 bytes each.
constexpr std::size_t kMaxHeapTasks = 4'000'000;
// The limit for tasks in the queue of one semaphore.
constexpr std::size_t kMaxQueued = 100'000;
constexpr std::size_t kStepsOfClock = 64;

class TaskGraph {
 public:
  TaskGraph(ManagedObjects& objects, const TaskLimits& limits)
      : objects_(objects), limits_(limits), end_(Clock::now() + limits.time), most_(limits.tasks) {}

  FoundTasks find(const TasksOfThreads& threads) {
    for (const TaskOfThread& of : threads.running) running_.emplace(awaited_instead_of(of.task), of.os_id);
    add_roots(threads);
    follow();
    ask_heap();
    add_children();
    Resumed resumed = find_resumed();
    find_contexts(resumed);
    return take(threads, resumed);
  }

 private:
  // A task to be read. Nothing happens if it is known, or if there are too many.
  void add(std::uint64_t task) {
    if (task == 0 || is_known(task)) return;
    if (is_full()) {
      ++left_out_;
      return;
    }
    tasks_.try_emplace(task);
    to_read_.push_back(task);
  }

  bool is_full() const { return tasks_.size() >= most_; }
  bool is_known(std::uint64_t task) const {
    return tasks_.contains(task) || std::ranges::binary_search(beyond_, task);
  }

  // What methods await instead of this task, if it is the box of an iterator; the task itself otherwise.
  std::uint64_t awaited_instead_of(std::uint64_t task) {
    const std::uint64_t iterator = iterator_of(objects_, task);
    return iterator != 0 ? iterator : task;
  }

  void add_roots(const TasksOfThreads& threads) {
    for (const TaskOfThread& of : threads.waited_for) add(of.task);
    for (const TasksOfThreads::WaitedForAll& all : threads.waited_for_all) {
      if (!tasks_.try_emplace(all.counter).second) continue;
      ReadTask read{.task = {.address = all.counter, .kind = TaskKind::when_all}};
      if (const ManagedType* const type = objects_.type_of(all.counter)) read.task.type = type->clr.name;
      read.awaits = all.tasks;
      for (const std::uint64_t task : all.tasks) add(task);
      tasks_[all.counter] = std::move(read);
    }
    for (const TaskOfThread& of : threads.running) add(awaited_instead_of(of.task));
  }

  // Whole chains from their beginnings on, each up to the limit of a chain, and then more of them if there is room.
  void add_heap(const HeapTasks& heap, Clock::time_point end) {
    const auto is_over = [&] { return over_ || (is_full() && left_out_ != 0); };
    most_ = std::max(most_, tasks_.size() + limits_.tasks / 2);
    if (heap.tasks.size() <= most_ - tasks_.size()) {
      for (std::size_t i = 0; i < heap.tasks.size() && !is_over(); ++i) add_chain(heap.tasks[i].address);
      return;
    }
    const std::vector<std::uint32_t> depths = depths_in_chains(objects_, heap, end);
    std::vector<std::uint32_t> rest;  // indices
    for (std::uint32_t i = 0; i < depths.size(); ++i) {
      if (depths[i] < limits_.chain) continue;
      rest.push_back(i);
      beyond_.push_back(heap.tasks[i].address);
    }
    for (const bool begins : {true, false}) {
      for (std::size_t i = 0; i < depths.size() && !is_over(); ++i) {
        if ((depths[i] == 0) == begins) add_chain(heap.tasks[i].address);
      }
    }
    only_rest_left_out_ = left_out_ == 0 && !rest.empty();
    beyond_.clear();
    std::ranges::stable_sort(rest, {}, [&](std::uint32_t i) { return depths[i]; });
    for (std::size_t i = 0; i < rest.size() && !is_over(); ++i) add_chain(heap.tasks[rest[i]].address);
  }

  void add_chain(std::uint64_t task) {
    if (is_known(task) || is_past_deadline()) return;
    const std::uint64_t root = awaited_instead_of(task);
    // At a `yield return`, an iterator waits for nothing. Real case: an enumerator that a program keeps.
    if (root != task && has_ended(read_task(objects_, root).value_or(ReadTask{}).task.status)) return;
    add(root);
    follow();
  }

  bool is_past_deadline() {
    if (over_ || ++steps_ % kStepsOfClock != 0) return over_;
    over_ = Clock::now() >= end_;
    return over_;
  }

  void follow() {
    while (!to_read_.empty() && !is_past_deadline()) {
      const std::uint64_t address = to_read_.front();
      to_read_.pop_front();
      auto read = read_task(objects_, address);
      if (!read) {
        tasks_.erase(address);
        continue;
      }
      if (const auto running = running_.find(address); running != running_.end()) run(*read, running->second);
      for (const std::uint64_t awaited : read->awaits) add(awaited);
      tasks_[address] = std::move(read);
    }
  }

  // A thread runs the task. Its stack may still have one that has ended, or that waits at an await.
  static void run(ReadTask& read, std::uint32_t os_id) {
    if (has_ended(read.task.status) || read.at_await || read.has_children) return;
    read.task.status = TaskStatus::running;
    read.task.thread = os_id;
  }

  // A task that waits for the tasks attached to it does not lead to them, but each of them leads to it. Of these, those
  // that a thread runs are known. Real case: PLINQ, whose caller waits for one task with a child for each worker.
  void add_children() {
    for (const auto& [address, read] : tasks_) {
      if (!read || read->parent == 0 || has_ended(read->task.status)) continue;
      const auto parent = tasks_.find(read->parent);
      if (parent == tasks_.end() || !parent->second || !parent->second->has_children) continue;
      // A method goes on in a context behind the child. The parent needs only the end of the child, so this context
      // must not become one of those that the parent waits for (WaitGraph).
      std::vector<std::uint64_t>& awaits = parent->second->awaits;
      if (read->context == 0 && awaits.size() < kMaxAwaits) {
        awaits.push_back(address);
      } else {
        ++parent->second->task.awaits_left_out;
      }
    }
    // If none of its children is known, it goes on with code that is not seen.
    for (auto& [address, read] : tasks_) {
      if (read && read->has_children && read->awaits.empty()) read->task.status = TaskStatus::running;
    }
  }

  bool needs_heap() const {
    if (limits_.heap) return true;
    return std::ranges::any_of(tasks_, [](const auto& entry) { return entry.second && needs_heap(*entry.second); });
  }
  static bool needs_heap(const ReadTask& read) {
    if (has_ended(read.task.status)) return false;
    return read.awaits_unknown || (read.task.kind == TaskKind::semaphore && read.task.object == 0);
  }

  void ask_heap() {
    if (!needs_heap() || is_past_deadline()) return;
    const auto end = std::min(end_, Clock::now() + limits_.heap_time);
    const HeapTasks heap = read_heap_tasks(objects_, kMaxHeapTasks, end);
    heap_missing_ = !heap.whole;
    if (limits_.heap) add_heap(heap, end);
    for (int round = 0; round < kMaxRounds && Clock::now() < end_; ++round) {
      std::vector<std::uint64_t> wanted;
      for (const auto& [address, read] : tasks_) {
        if (read && read->awaits_unknown && !has_ended(read->task.status)) wanted.push_back(address);
      }
      if (wanted.empty()) break;
      const auto found = tasks_that_continue_with(objects_, heap, wanted, end_);
      for (const std::uint64_t address : wanted) {
        ReadTask& read = *tasks_[address];
        read.awaits_unknown = false;
        const auto awaited = found.find(address);
        if (awaited == found.end()) continue;
        read.awaits = awaited->second;
        if (read.awaits.size() > kMaxAwaits) {
          read.task.awaits_left_out = static_cast<std::uint32_t>(read.awaits.size() - kMaxAwaits);
          read.awaits.resize(kMaxAwaits);
        }
        for (const std::uint64_t task : read.awaits) add(task);
      }
      follow();
    }
    add_semaphores(heap);
  }

  void add_semaphores(const HeapTasks& heap) {
    for (const auto& [first, semaphore] : heap.semaphores) {
      std::uint64_t at = first;
      std::set<std::uint64_t> seen;
      while (at != 0 && seen.size() < kMaxQueued && seen.insert(at).second && !is_past_deadline()) {
        const ManagedType* const type = objects_.type_of(at);
        if (type == nullptr || !type->task) break;
        if (const auto known = tasks_.find(at); known != tasks_.end() && known->second) {
          known->second->task.object = semaphore;
          known->second->task.object_type = "System.Threading.SemaphoreSlim";
        }
        at = objects_.reference(at, *type, "Next");
      }
    }
  }

  // The tasks that have ended while a method that waits for them has not gone on: by their address, the delegates that
  // make the methods go on; 0 for one that has none.
  using Resumed = std::map<std::uint64_t, std::vector<std::uint64_t>>;
  Resumed find_resumed() const {
    Resumed resumed;
    for (const auto& [address, read] : tasks_) {
      if (!read || !read->at_await || has_ended(read->task.status)) continue;
      for (const std::uint64_t awaited : read->awaits) {
        const auto found = tasks_.find(awaited);
        if (found == tasks_.end() || !found->second || !has_ended(found->second->task.status)) continue;
        resumed[awaited].push_back(read->resumed_by);
      }
    }
    return resumed;
  }

  // A task that has ended no longer says where its continuations went, so the queues of the contexts are searched for
  // what goes on. If several methods wait for the task and not all of them are in the queue of one context, that
  // context is not the one of all, and neither is the pool.
  void find_contexts(Resumed& resumed) {
    std::unordered_set<std::uint64_t> wanted, beside;
    for (const auto& [task, delegates] : resumed) wanted.insert(delegates.begin(), delegates.end());
    for (const auto& [address, read] : tasks_) {
      if (!read) continue;
      if (read->yields) {
        wanted.insert(read->resumed_by);
        beside.insert(address);
      } else if (const std::uint64_t source = awaited_source(*read); source != 0) {
        beside.insert({source, read->box, read->resumed_by});
      }
    }
    wanted.erase(0);
    beside.erase(0);
    if (wanted.empty() && beside.empty()) return;
    std::vector<std::uint64_t> threads, contexts;
    for (const ClrThread& thread : objects_.clr().threads()) threads.push_back(thread.object);
    contexts = contexts_of_threads(objects_, threads);
    for (const auto& [address, read] : tasks_) {
      // A method that goes on under a scheduler is in its queue, and a task that runs there names it.
      for (const std::uint64_t context : {read ? read->context : 0, read ? read->scheduler : 0}) {
        if (context == 0 || contexts.size() >= kMaxContexts) continue;
        if (std::ranges::find(contexts, context) == contexts.end()) contexts.push_back(context);
      }
    }
    const auto posted = posted_to(objects_, contexts, wanted, beside, end_);
    for (auto& [address, read] : tasks_) {
      if (!read || !read->yields) continue;
      auto at = posted.find(address);
      if (at == posted.end()) at = posted.find(read->resumed_by);
      if (at == posted.end()) continue;
      read->task.object = at->second;
      if (const ManagedType* const type = objects_.type_of(at->second)) read->task.object_type = type->clr.name;
    }
    std::erase_if(resumed, [&](const auto& one) {
      std::set<std::uint64_t> found;
      for (const std::uint64_t delegate : one.second) {
        const auto at = posted.find(delegate);
        found.insert(at == posted.end() ? 0 : at->second);
      }
      if (found.size() == 1 && *found.begin() != 0) tasks_[one.first]->context = *found.begin();
      return found.size() > 1;
    });
    add_posted_sources(posted, resumed);
  }

  // The IValueTaskSource for which the method waits; 0 if it waits for none.
  std::uint64_t awaited_source(const ReadTask& read) {
    if (!read.at_await || has_ended(read.task.status) || read.awaits.size() != 1) return 0;
    const auto found = tasks_.find(read.awaits.front());
    const ManagedType* const type = objects_.type_of(read.awaits.front());
    return found != tasks_.end() && found->second && type != nullptr && !type->task ? found->first : 0;
  }

  // Folklore: only the source itself knows whether it has ended, each kind in fields of its own. Real case: a window
  // waits for a method that awaits a channel, a socket or a timer; the method is in the queue of the window, and the
  // source seemed to wait for input. Remedy: if .NET has posted what goes on, the source has ended. Test:
  // TaskGraphTest.
  void add_posted_sources(const std::unordered_map<std::uint64_t, std::uint64_t>& posted, Resumed& resumed) {
    for (const auto& [address, read] : tasks_) {
      const std::uint64_t source = read ? awaited_source(*read) : 0;
      if (source == 0) continue;
      for (const std::uint64_t object : {source, read->box, read->resumed_by}) {
        const auto at = posted.find(object);
        if (at == posted.end()) continue;
        ReadTask& ended = *tasks_[source];
        ended.task.status = TaskStatus::done;
        ended.task.due_ms = -1;
        ended.awaits.clear();
        ended.context = at->second;
        resumed.try_emplace(source);
        break;
      }
    }
  }

  std::uint32_t context_index(std::uint64_t address, std::vector<AsyncContext>& contexts) {
    const auto known = std::ranges::find(contexts, address, &AsyncContext::address);
    if (known != contexts.end()) return static_cast<std::uint32_t>(known - contexts.begin());
    const ManagedType* const type = objects_.type_of(address);
    contexts.push_back({.address = address, .type = type != nullptr ? type->clr.name : std::string()});
    return static_cast<std::uint32_t>(contexts.size() - 1);
  }

  // The code of the state machines at an await, by their types.
  std::unordered_map<std::uint64_t, IlPlace> find_places(std::vector<Assembly>& assemblies) {
    std::set<std::uint64_t> machines;
    for (const auto& [address, read] : tasks_) {
      if (read && read->machine != 0) machines.insert(read->machine);
    }
    const std::vector<std::uint64_t> tables(machines.begin(), machines.end());
    ClrIlPlaces answer = objects_.clr().machine_places(tables);
    assemblies = std::move(answer.assemblies);
    std::unordered_map<std::uint64_t, IlPlace> places;
    for (const ClrIlPlaces::Place& place : answer.places) {
      if (place.il.assembly >= 0) places.emplace(place.method, place.il);
    }
    return places;
  }

  FoundTasks take(const TasksOfThreads& threads, const Resumed& resumed) {
    FoundTasks found;
    const std::unordered_map<std::uint64_t, IlPlace> places = find_places(found.assemblies);
    std::unordered_map<std::uint64_t, std::uint32_t> indices;
    std::erase_if(tasks_, [](const auto& entry) { return !entry.second; });
    for (const auto& [address, read] : tasks_) indices.emplace(address, static_cast<std::uint32_t>(indices.size()));
    for (auto& [address, read] : tasks_) {
      AsyncTask task = std::move(read->task);
      for (const std::uint64_t awaited : read->awaits) {
        const auto index = indices.find(awaited);
        if (index != indices.end()) {
          task.awaits.push_back(index->second);
        } else {
          ++task.awaits_left_out;
        }
      }
      if (read->context != 0) task.continues_on = context_index(read->context, found.contexts);
      if (task.status == TaskStatus::queued && task.object != 0) context_index(task.object, found.contexts);
      task.not_resumed = resumed.contains(address);
      if (const auto place = places.find(read->machine); place != places.end()) task.il = place->second;
      found.tasks.push_back(std::move(task));
    }
    const auto waits = [&](std::uint32_t os_id, std::uint64_t task) {
      if (const auto index = indices.find(task); index != indices.end()) found.waited_for.emplace(os_id, index->second);
    };
    for (const TaskOfThread& of : threads.waited_for) waits(of.os_id, of.task);
    for (const TasksOfThreads::WaitedForAll& all : threads.waited_for_all) waits(all.os_id, all.counter);
    found.missing = missing();
    return found;
  }

  std::string missing() const {
    if (left_out_ != 0) {
      const std::string many = "there are more than " + std::to_string(most_) + " tasks, and ";
      if (!only_rest_left_out_) return many + "the others are left out";
      return many + "the rest of chains with more than " + std::to_string(limits_.chain) + " tasks is left out";
    }
    if (over_) return kTasksTimeOver;
    return heap_missing_ ? kHeapNotRead : std::string();
  }

  ManagedObjects& objects_;
  const TaskLimits limits_;
  const Clock::time_point end_;
  std::map<std::uint64_t, std::optional<ReadTask>> tasks_;  // by address; without a value until it is read
  std::deque<std::uint64_t> to_read_;
  std::unordered_map<std::uint64_t, std::uint32_t> running_;  // OS ids of threads by tasks
  std::size_t most_ = 0;                // so many tasks are taken
  std::vector<std::uint64_t> beyond_;   // tasks beyond the limit of a chain, sorted, as long as there may be others
  bool only_rest_left_out_ = false;     // each chain is taken up to the limit; only the tasks beyond it are left out
  std::size_t left_out_ = 0, steps_ = 0;
  bool over_ = false, heap_missing_ = false;
};

}  // namespace

FoundTasks find_tasks(ManagedObjects& objects, const TasksOfThreads& threads, const TaskLimits& limits) {
  return TaskGraph(objects, limits).find(threads);
}

FoundTasks consistent_tasks(const FoundTasks& first, FoundTasks second) {
  const auto before = [&](std::uint64_t address) -> const AsyncTask* {
    const auto found = std::ranges::lower_bound(first.tasks, address, {}, &AsyncTask::address);
    return found != first.tasks.end() && found->address == address ? &*found : nullptr;
  };
  const auto same_awaits = [&](const AsyncTask& a, const AsyncTask& b) {
    return std::ranges::equal(a.awaits, b.awaits, [&](std::uint32_t i, std::uint32_t j) {
      return first.tasks[i].address == second.tasks[j].address;
    });
  };
  const auto context = [](const FoundTasks& found, const AsyncTask& task) {
    return task.continues_on < found.contexts.size() ? found.contexts[task.continues_on].address : 0;
  };
  std::vector<bool> same;
  for (const AsyncTask& task : second.tasks) {
    const AsyncTask* const then = before(task.address);
    same.push_back(then != nullptr && then->status == task.status && then->thread == task.thread &&
                   then->await_number == task.await_number && then->not_resumed == task.not_resumed &&
                   then->type == task.type && then->object == task.object &&
                   context(first, *then) == context(second, task) && same_awaits(*then, task));
  }
  for (std::size_t i = 0; i < second.tasks.size(); ++i) {
    if (same[i]) continue;
    AsyncTask& task = second.tasks[i];
    task.awaits.clear();
    task.thread = 0;
    task.not_resumed = false;
    task.continues_on = AsyncTask::kNone;
    task.object = 0;
    task.object_type.clear();
    if (has_ended(task.status)) continue;
    // A method that has got to another await, or that was called in between, is at work.
    task.status = task.kind == TaskKind::async_method ? TaskStatus::running : TaskStatus::waiting;
  }
  std::erase_if(second.waited_for, [&](const auto& waits) {
    const auto then = first.waited_for.find(waits.first);
    return then == first.waited_for.end() ||
           first.tasks[then->second].address != second.tasks[waits.second].address;
  });
  return second;
}

}  // namespace mixwalk
