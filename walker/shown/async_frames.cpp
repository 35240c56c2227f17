#include "walker/shown/async_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "symbols/demangle/managed_name.h"
#include "symbols/demangle/managed_types.h"
#include "unmanaged/hex.h"
#include "walker/base/count_words.h"
#include "walker/base/printable.h"
#include "walker/model/task_types.h"
#include "walker/shown/frame_label.h"

namespace mixwalk {
namespace {

constexpr LineLimits kLimits{.names = kMaxAsyncNameBytes, .files = kMaxAsyncNameBytes};
// How many holders of a semaphore are named.
constexpr std::size_t kMaxHolders = 3;

std::string name_of(std::string_view name) { return printable(managed_name(name), kMaxAsyncNameBytes); }

// The name of a type for people.
std::string type_name(std::string_view type) {
  const auto types = csharp_types(type);
  return printable(types && types->size() == 1 ? types->front() : std::string(type), kMaxAsyncNameBytes);
}

std::string place_of(const AsyncTask& task) {
  Frame frame;
  frame.file = task.file;
  frame.line = task.line;
  return line_place(frame, kLimits);
}

bool waits_for_many(const AsyncTask& task) {
  return (task.kind == TaskKind::when_all && !is_unwrap(task)) || task.kind == TaskKind::when_any;
}

// Whether nothing of the task is left to do: it has ended, and so did what waited for it go on.
bool is_over(const AsyncTask& task) {
  return has_ended(task.status) && !task.not_resumed && task.continues_on == AsyncTask::kNone;
}

// All that makes tasks alike, apart from what they wait for.
bool are_alike(const AsyncTask& a, const AsyncTask& b) {
  return a.kind == b.kind && a.status == b.status && a.await_number == b.await_number && a.line == b.line &&
         a.continues_on == b.continues_on && a.not_resumed == b.not_resumed && a.method == b.method &&
         a.type == b.type && a.file == b.file && a.object_type == b.object_type;
}

std::size_t hash_of(const AsyncTask& task, const std::vector<std::uint32_t>& awaited) {
  std::size_t hash = std::hash<std::string_view>{}(task.method);
  const auto add = [&](std::size_t part) { hash = hash * 31 + part; };
  add(std::hash<std::string_view>{}(task.type));
  add(std::hash<std::string_view>{}(task.file));
  add(std::hash<std::string_view>{}(task.object_type));
  add(task.line);
  add(static_cast<std::size_t>(task.status));
  add(static_cast<std::size_t>(task.kind));
  add(static_cast<std::uint32_t>(task.await_number));
  add(task.continues_on);
  add(task.not_resumed);
  for (const std::uint32_t kind : awaited) add(kind);
  return hash;
}

}  // namespace

// The lines so far, and the tasks that lead to the next one.
struct AsyncFrames::Path {
  std::vector<AsyncFrame> frames;
  std::vector<std::uint32_t> tasks;

  bool is_full() const { return frames.size() >= kMaxAsyncFrames; }
  void cut(std::uint32_t depth, std::string label) {
    frames.push_back({.relation = AsyncFrame::Relation::cut, .depth = depth, .label = std::move(label), .state = {}});
  }
};

std::string line_of(const AsyncFrame& frame) {
  std::string line = frame.count > 1 ? fmt::format("{} × ", frame.count) : "";
  line += frame.label;
  return frame.state.empty() ? line : line + " → " + frame.state;
}

AsyncFrames::AsyncFrames(const Snapshot& snapshot) : snapshot_(snapshot), awaiters_(snapshot.tasks.size()) {
  for (std::uint32_t i = 0; i < snapshot.tasks.size(); ++i) {
    const AsyncTask& task = snapshot.tasks[i];
    for (const std::uint32_t awaited : task.awaits) awaiters_[awaited].push_back(i);
    if (task.status == TaskStatus::running && task.thread != 0) running_.push_back({task.thread, i});
  }
  std::ranges::stable_sort(running_, {}, &Running::os_id);
  number_kinds();
}

// A task is numbered after the tasks that it waits for, without recursion: a chain may have a million of them. In a
// circle, the task that closes it counts without what it waits for.
void AsyncFrames::number_kinds() {
  constexpr std::uint32_t kOpen = AsyncTask::kNone - 1;
  const std::vector<AsyncTask>& tasks = snapshot_.tasks;
  kinds_.assign(tasks.size(), AsyncTask::kNone);
  struct Kind {
    std::uint32_t task = 0;               // the first one
    std::vector<std::uint32_t> awaited;  // the kinds of its `awaits`, sorted
  };
  std::vector<Kind> kinds;
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash;
  const auto number_of = [&](std::uint32_t index) {
    Kind kind{.task = index, .awaited = {}};
    for (const std::uint32_t other : tasks[index].awaits) kind.awaited.push_back(kinds_[other]);
    std::ranges::sort(kind.awaited);
    const std::size_t hash = hash_of(tasks[index], kind.awaited);
    for (auto [at, end] = by_hash.equal_range(hash); at != end; ++at) {
      const Kind& known = kinds[at->second];
      if (known.awaited == kind.awaited && are_alike(tasks[known.task], tasks[index])) return at->second;
    }
    const auto number = static_cast<std::uint32_t>(kinds.size());
    kinds.push_back(std::move(kind));
    by_hash.emplace(hash, number);
    return number;
  };
  struct Step {
    std::uint32_t task = 0;
    std::size_t next = 0;  // of its `awaits`
  };
  std::vector<Step> steps;
  const auto begin = [&](std::uint32_t task) {
    if (kinds_[task] != AsyncTask::kNone) return;
    kinds_[task] = kOpen;
    steps.push_back({.task = task});
  };
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    begin(i);
    while (!steps.empty()) {
      Step& step = steps.back();
      const AsyncTask& task = tasks[step.task];
      if (step.next < task.awaits.size()) {
        begin(task.awaits[step.next++]);
      } else {
        kinds_[step.task] = number_of(step.task);
        steps.pop_back();
      }
    }
  }
}

std::vector<AsyncFrame> AsyncFrames::of(const Thread& thread) const {
  if (snapshot_.tasks.empty()) return {};
  Path path;
  if (thread.waits_for_task != AsyncTask::kNone) add_awaited(path, thread.waits_for_task, 0, 1);
  // A thread may run several tasks, one inside the other. Each of them has its own callers.
  auto run = std::ranges::lower_bound(running_, thread.os_id, {}, &Running::os_id);
  for (; run != running_.end() && run->os_id == thread.os_id && !path.is_full(); ++run) add_awaiters(path, run->task);
  return std::move(path.frames);
}

std::vector<AsyncFrame> AsyncFrames::of(std::uint32_t task) const {
  Path path;
  add_awaited(path, task, 0, 1);
  return std::move(path.frames);
}

void AsyncFrames::add_awaited(Path& path, std::uint32_t index, std::uint32_t depth, std::uint32_t count) const {
  const std::size_t begin = path.tasks.size();
  for (bool first = true;; first = false) {
    // The rest of a branch is farther to the right than its beginning.
    if (!first && depth != 0 && path.tasks.size() == begin + 1) ++depth;
    if (path.is_full()) {
      if (path.frames.back().relation != AsyncFrame::Relation::cut) path.cut(depth, "more tasks follow");
      break;
    }
    const AsyncTask& task = snapshot_.tasks[index];
    AsyncFrame& frame = path.frames.emplace_back();
    frame = {.task = index,
             .depth = depth,
             .count = std::exchange(count, 1),
             .label = label_of(task, "await"),
             .state = {}};
    if (std::ranges::find(path.tasks, index) != path.tasks.end()) {
      frame.state = "a task of a line above: these tasks wait for each other";
      break;
    }
    path.tasks.push_back(index);
    const std::vector<TaskGroup> branches = branches_of(task);
    frame.state = state_of(task, !branches.empty());
    if (branches.empty()) break;
    if (branches.size() == 1 && branches[0].count == 1 && task.awaits_left_out == 0 && !waits_for_many(task)) {
      index = branches[0].first;
      continue;
    }
    const std::size_t shown = std::min(branches.size(), kMaxAsyncBranches);
    for (std::size_t i = 0; i < shown && !path.is_full(); ++i) {
      add_awaited(path, branches[i].first, depth + 1, static_cast<std::uint32_t>(branches[i].count));
    }
    std::size_t rest = task.awaits_left_out;
    for (std::size_t i = shown; i < branches.size(); ++i) rest += branches[i].count;
    if (rest != 0 && !path.is_full()) path.cut(depth + 1, count_words(rest, "more task"));
    break;
  }
  path.tasks.resize(begin);
}

void AsyncFrames::add_awaiters(Path& path, std::uint32_t index) const {
  for (std::vector<std::uint32_t> seen{index}; !awaiters_[index].empty() && !path.is_full();) {
    const std::vector<std::uint32_t>& awaiters = awaiters_[index];
    index = awaiters.front();
    const AsyncTask& task = snapshot_.tasks[index];
    AsyncFrame& frame = path.frames.emplace_back();
    frame = {.relation = AsyncFrame::Relation::awaited_by,
             .task = index,
             .label = label_of(task, "awaited by"),
             .state = {}};
    if (awaiters.size() > 1) frame.state = "and " + count_words(awaiters.size() - 1, "more task");
    if (std::ranges::find(seen, index) != seen.end()) return;
    seen.push_back(index);
  }
}

std::vector<TaskGroup> AsyncFrames::branches_of(const AsyncTask& task) const {
  std::vector<TaskGroup> branches;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const std::uint32_t index : task.awaits) {
    if (waits_for_many(task) && is_over(snapshot_.tasks[index])) continue;
    const auto [at, added] = places.try_emplace(kinds_[index], branches.size());
    if (added) branches.push_back({.first = index});
    ++branches[at->second].count;
  }
  return branches;
}

std::string AsyncFrames::label_of(const AsyncTask& task, std::string_view verb) const {
  std::string text(verb);
  text += ' ';
  if (!task.method.empty()) return text + name_of(task.method) + place_of(task);
  switch (task.kind) {
    case TaskKind::completion_source: return text + "TaskCompletionSource";
    case TaskKind::delay: return text + "Task.Delay";
    case TaskKind::semaphore:
      return text + "SemaphoreSlim.WaitAsync" + (task.object == 0 ? std::string() : " of " + hex(task.object));
    case TaskKind::when_all: return text + (is_unwrap(task) ? "Task.Run" : "Task.WhenAll");
    case TaskKind::when_any: return text + (is_wait_async(task) ? "Task.WaitAsync" : "Task.WhenAny");
    case TaskKind::channel:
      if (!task.object_type.empty()) return text + type_name(task.object_type) + " " + hex(task.object);
      break;
    case TaskKind::other:
    case TaskKind::async_method:
    case TaskKind::delegate:
    case TaskKind::io:
    case TaskKind::value_source: break;
  }
  return text + (task.type.empty() ? std::string("a task") : type_name(task.type)) + " " + hex(task.address);
}

std::string AsyncFrames::thread_words(std::uint32_t os_id) const {
  std::string text = "thread " + hex(os_id);
  const auto thread = std::ranges::find(snapshot_.threads, os_id, &Thread::os_id);
  if (thread == snapshot_.threads.end() || thread->name.empty()) return text;
  return text + " " + quoted_name(thread->name, kMaxAsyncNameBytes);
}

std::string AsyncFrames::holder_words(const Lock& lock) const {
  std::string text;
  std::size_t shown = 0;
  const auto add = [&](const std::string& holder) {
    if (shown++ < kMaxHolders) text += (text.empty() ? "" : ", ") + holder;
  };
  if (lock.owner != 0) add(thread_words(lock.owner));
  for (const std::uint32_t os_id : lock.sharers) add(thread_words(os_id));
  for (const std::uint32_t task : lock.task_holders) add(name_of(snapshot_.tasks[task].method));
  return shown > kMaxHolders ? text + ", …" : text;
}

std::string AsyncFrames::context_words(std::uint32_t index) const {
  const AsyncContext& context = snapshot_.contexts[index];
  if (context.thread != 0) return thread_words(context.thread);
  if (context.address == 0) return "a queue that is not known";
  const std::string type = context.type.empty() ? "a context" : type_name(context.type);
  return type + " " + hex(context.address) + ", whose thread is not known";
}

// `is_followed`: whether the next lines say what the task waits for.
std::string AsyncFrames::state_of(const AsyncTask& task, bool is_followed) const {
  if (has_ended(task.status)) {
    const std::string_view how = task.status == TaskStatus::done      ? "done"
                                 : task.status == TaskStatus::faulted ? "ended by an exception"
                                                                      : "cancelled";
    if (is_over(task)) return std::string(how);
    return fmt::format("{}, its continuation waits for {}", how,
                       task.continues_on == AsyncTask::kNone ? "the thread pool" : context_words(task.continues_on));
  }
  if (task.status == TaskStatus::running) {
    if (task.thread != 0) return "runs on " + thread_words(task.thread);
    return task.kind == TaskKind::async_method ? "goes on" : "runs";
  }
  if (task.status == TaskStatus::queued && task.kind == TaskKind::async_method && task.await_number >= 0) {
    // Behind Task.Yield(): the queue is that of a context, or of the thread pool.
    const auto context = task.object == 0 ? snapshot_.contexts.end()
                                          : std::ranges::find(snapshot_.contexts, task.object, &AsyncContext::address);
    if (context == snapshot_.contexts.end()) return "its continuation is in a queue";
    return "its continuation waits for " +
           context_words(static_cast<std::uint32_t>(context - snapshot_.contexts.begin()));
  }
  if (task.status == TaskStatus::queued) return "in a queue, and not begun";
  std::string state;
  if (waits_for_many(task)) {
    const auto ended = static_cast<std::size_t>(std::ranges::count_if(
        task.awaits, [&](std::uint32_t index) { return has_ended(snapshot_.tasks[index].status); }));
    state = fmt::format("{} of {} ended", ended, count_words(task.awaits.size() + task.awaits_left_out, "task"));
  } else if (!is_followed) {
    switch (task.kind) {
      case TaskKind::delay:
        state = task.due_ms < 0 ? "waits for a timer"
                : task.due_ms == 0 ? "due now"
                                   : fmt::format("due in {:.1f} s", static_cast<double>(task.due_ms) / 1000);
        break;
      case TaskKind::semaphore: state = "waits for a release"; break;
      case TaskKind::completion_source: state = "nothing has completed it"; break;
      case TaskKind::channel: state = "waits for the other end of the channel"; break;
      case TaskKind::io: state = "waits for input or output"; break;
      case TaskKind::delegate: state = "not begun"; break;
      case TaskKind::async_method:
      case TaskKind::other:
      case TaskKind::value_source:
      case TaskKind::when_all:
      case TaskKind::when_any:
        state = task.object_type.empty() ? "not ended; it is not known what it waits for"
                                         : "waits for " + type_name(task.object_type) + " " + hex(task.object);
        break;
    }
  }
  if (task.kind == TaskKind::semaphore && task.object != 0) {
    for (const Lock& lock : snapshot_.locks) {
      if (lock.kind != LockKind::semaphore || lock.address != task.object) continue;
      const std::string holders = holder_words(lock);
      if (!holders.empty()) state += " by " + holders;
    }
  }
  if (task.continues_on != AsyncTask::kNone) {
    state += (state.empty() ? "its continuation goes to " : "; its continuation goes to ") +
             context_words(task.continues_on);
  }
  return state;
}

std::vector<TaskGroup> AsyncFrames::groups() const {
  const std::vector<AsyncTask>& tasks = snapshot_.tasks;
  std::vector<bool> seen(tasks.size());
  std::vector<std::uint32_t> open;
  const auto mark = [&](std::uint32_t first, const auto& next_of) {
    open.push_back(first);
    while (!open.empty()) {
      const std::uint32_t task = open.back();
      open.pop_back();
      if (seen[task]) continue;
      seen[task] = true;
      for (const std::uint32_t next : next_of(task)) open.push_back(next);
    }
  };
  const auto awaited = [&](std::uint32_t task) -> const std::vector<std::uint32_t>& { return tasks[task].awaits; };
  for (const Thread& thread : snapshot_.threads) {
    if (thread.waits_for_task != AsyncTask::kNone) mark(thread.waits_for_task, awaited);
  }
  for (const Running& running : running_) {
    seen[running.task] = false;  // its callers are shown too if another thread waits for it
    mark(running.task, [&](std::uint32_t task) -> const std::vector<std::uint32_t>& { return awaiters_[task]; });
  }
  std::vector<TaskGroup> groups;
  std::unordered_map<std::uint32_t, std::size_t> places;
  const auto add = [&](std::uint32_t task) {
    const auto [at, added] = places.try_emplace(kinds_[task], groups.size());
    if (added) groups.push_back({.first = task});
    ++groups[at->second].count;
    mark(task, awaited);
  };
  const auto is_left = [&](std::uint32_t task) { return !seen[task] && !is_over(tasks[task]); };
  std::vector<std::uint32_t> begins;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (is_left(i) && std::ranges::none_of(awaiters_[i], is_left)) begins.push_back(i);
  }
  for (const std::uint32_t task : begins) add(task);
  // What is left waits in circles, for itself.
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (is_left(i)) add(i);
  }
  std::ranges::stable_sort(groups, std::greater(), &TaskGroup::count);
  return groups;
}

std::string pool_sentence(const ThreadPoolState& pool) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + part; };
  if (pool.queued >= 0) add(count_words(static_cast<std::uint64_t>(pool.queued), "item") + " queued");
  if (pool.workers >= 0) {
    const std::string all = count_words(static_cast<std::uint64_t>(pool.workers), "worker");
    add(pool.working < 0 ? all : fmt::format("{} of {} at work", pool.working, all));
  }
  if (pool.goal >= 0) add(fmt::format("{} may work now", pool.goal));
  if (pool.min >= 0 && pool.max >= 0) add(fmt::format("limits {} and {}", pool.min, pool.max));
  return text;
}

}  // namespace mixwalk
