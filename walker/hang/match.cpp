#include "walker/hang/match.h"

#include <algorithm>
#include <unordered_map>

#include "unmanaged/ascii_lower.h"
#include "walker/base/file_time.h"
#include "walker/hang/task_words.h"
#include "walker/hang/wait_rules.h"
#include "walker/hang/waits.h"
#include "walker/model/task_types.h"

namespace mixwalk {
namespace {

using FunctionIds = std::vector<std::vector<std::uint64_t>>;

// Whether the dumps have no thread in common, so that they are of different processes. Processes with the same id and
// path on two machines of a fleet have no thread in common, nor have a process and one that was started later under the
// same id. If a dump lacks threads (--thread), only an id that was reused proves it.
bool no_thread_in_common(const Snapshot& a, const Snapshot& b) {
  std::unordered_map<std::uint32_t, std::uint64_t> began;
  for (const Thread& thread : a.threads) {
    if (thread.created != 0) began.try_emplace(thread.os_id, thread.created / kTicksOfMs);
  }
  bool known = false, given_again = false;
  for (const Thread& thread : b.threads) {
    if (thread.created == 0 || began.empty()) continue;
    known = true;
    const auto found = began.find(thread.os_id);
    if (found == began.end()) continue;
    if (found->second == thread.created / kTicksOfMs) return false;
    given_again = true;
  }
  return given_again || (known && !a.omissions.threads && !b.omissions.threads);
}

bool same_process(const Snapshot& a, const Snapshot& b) {
  if (a.process.id != b.process.id || a.process.id == 0) return false;
  const bool same_path = a.process.path.empty() || b.process.path.empty() ||
                         ascii_lower(a.process.path) == ascii_lower(b.process.path);
  return same_path && !no_thread_in_common(a, b);
}

// If it is not known when the thread began, its id may have been reused. Different names show that.
bool same_thread(const Thread& a, const Thread& b) {
  // JSON has the time when a thread began in milliseconds.
  if (a.created != 0 && b.created != 0) return a.created / kTicksOfMs == b.created / kTicksOfMs;
  if (a.clr_id != 0 && b.clr_id != 0 && a.clr_id != b.clr_id) return false;
  return a.name.empty() || b.name.empty() || a.name == b.name;
}

// Makes the wait `from`, which is all that the frames show, the wait `to`. Other waits stay as they are.
void rename_wait(Wait& wait, std::string_view from, std::string_view to) {
  if (wait.rule != from) return;
  // The words about a call come after those of the rule.
  const std::size_t rule_words = find_wait_rule(from)->words.size();
  const WaitRule& rule = *find_wait_rule(to);
  wait.state = rule.state;
  wait.rule = rule.key;
  wait.words.replace(0, rule_words, rule.words);
}

// Sets the wait of a thread that waits for a mutex or a semaphore with an owner. Its frames only show that it waits for
// something that others may signal.
void make_blocked(Wait& wait) {
  if (wait.state == WaitState::signal) wait.state = WaitState::blocked;
}

// Sets the wait of a thread that waits for a known task. What ends the wait of the task decides whether the thread is
// blocked: lock_findings.cpp finds out whether a thread that it needs goes on. `path`: not empty.
void name_task_wait(Wait& wait, const WaitGraph& graph, std::uint32_t thread, const TaskPath& path) {
  // The frames of a wait for a task, and those of what it waits by.
  constexpr std::string_view kWaits[] = {"task-wait",  "pool-task-wait", "main-wait",    "event-slim",
                                         "spin-wait",  "monitor-wait",   "runtime-wait", "library-wait"};
  if (std::ranges::find(kWaits, wait.rule) == std::end(kWaits)) return;
  const std::string words = path_words(graph, thread, path.nodes, path.owner);
  if (wait.rule == "main-wait") {
    wait.words = std::string(find_wait_rule("main-wait")->words) + " (" + words + ")";
    return;
  }
  if (wait.rule != "pool-task-wait") wait.rule = find_wait_rule("task-wait")->key;
  wait.words = words;
  if (graph.way_out(thread) == WayOut::time) {
    wait.state = WaitState::outside;
    return;
  }
  const WaitNode last = graph.node(path.nodes.back());
  const WayOut way_out = path.owner == WaitGraph::kNone ? graph.way_out(path.nodes.back()) : WayOut::none;
  if (way_out == WayOut::time) wait.rule = find_wait_rule("task-delay")->key;
  const bool is_task = last.kind == WaitNode::Kind::task;
  const AsyncTask* const task = is_task ? &graph.snapshot().tasks[last.index] : nullptr;
  const bool unknown = way_out == WayOut::unknown && task != nullptr && !has_ended(task->status) &&
                       task->kind != TaskKind::completion_source && task->kind != TaskKind::value_source &&
                       !is_wait_async(*task) &&  // any code may cancel it
                       task->kind != TaskKind::delegate;  // one of many for one loop (Parallel) may just not run
  // Nothing more is known of such a task than the thread's frames show.
  if (unknown && wait.state == WaitState::blocked) return;
  wait.state = way_out == WayOut::time || way_out == WayOut::outside ? WaitState::outside : WaitState::signal;
}

// Whether two numbers differ, as far as both are known.
bool differ(std::uint64_t before, std::uint64_t now) { return before != 0 && now != 0 && before != now; }

enum class Likeness { same, other, unclear };

class Matcher {
 public:
  Matcher(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
          std::span<const FunctionIds> functions)
      : dumps_(dumps), numbers_(numbers), functions_(functions) {}

  std::vector<ThreadHistory> run() {
    collect();
    for (ThreadHistory& history : histories_) judge(history);
    std::ranges::stable_sort(histories_, {}, &ThreadHistory::os_id);
    return std::move(histories_);
  }

 private:
  const Thread& thread(const Sighting& sighting) const { return dumps_[sighting.dump].threads[sighting.thread]; }

  void collect() {
    std::unordered_map<std::uint32_t, std::size_t> latest;  // by OS id
    for (const std::uint32_t dump : numbers_) {
      const FrameNames names(dumps_[dump]);
      const auto& threads = dumps_[dump].threads;
      const std::vector<ThreadRoles> roles = thread_roles(dumps_[dump]);
      for (std::uint32_t i = 0; i < threads.size(); ++i) {
        const auto known = latest.find(threads[i].os_id);
        const bool same_as_before = known != latest.end() && histories_[known->second].last().dump != dump &&
                                    same_thread(thread(histories_[known->second].last()), threads[i]);
        if (!same_as_before) {
          latest[threads[i].os_id] = histories_.size();
          histories_.emplace_back().os_id = threads[i].os_id;
        }
        ThreadHistory& history = histories_[latest[threads[i].os_id]];
        if (!threads[i].name.empty()) history.name = threads[i].name;
        history.roles = {history.roles.main || roles[i].main, history.roles.ui || roles[i].ui};
        history.sightings.push_back({dump, i, wait_of(names, threads[i])});
      }
      for (const Lock& lock : dumps_[dump].locks) {
        const auto owner = latest.find(lock.owner);
        const bool constructor = lock.kind == LockKind::critical_section && owner != latest.end() &&
                                 histories_[owner->second].last().dump == dump &&
                                 running_constructor(thread(histories_[owner->second].last())) != nullptr;
        const bool makes_blocked = lock.kind == LockKind::mutex ||
                                   (lock.kind == LockKind::semaphore && lock.has_all_holders() &&
                                    (lock.owner != 0 || !lock.sharers.empty()));
        const bool names_wait = lock.is_loader_lock() || makes_blocked || lock.kind == LockKind::monitor;
        if (!names_wait && !constructor) continue;
        for (const LockWaiter& waiter : lock.waiters) {
          const auto known = latest.find(waiter.os_id);
          if (known == latest.end() || histories_[known->second].last().dump != dump) continue;
          Sighting& seen = histories_[known->second].sightings.back();
          if (lock.is_loader_lock()) {
            rename_wait(seen.wait, "critical-section", "loader-lock");
          } else if (makes_blocked) {
            make_blocked(seen.wait);
          } else if (lock.kind == LockKind::monitor) {
            // A thread that was pulsed waits for the monitor, but is in Monitor.Wait all the same. In .NET 8, and in
            // composite images, the program itself calls the runtime, so no frame shows for what the thread waits.
            for (const std::string_view shown : {"monitor-wait", "runtime-wait"}) {
              if (!waiter.pulse) rename_wait(seen.wait, shown, "monitor-enter");
            }
          } else if (waits_in_runtime(names, thread(seen))) {
            // Folklore: the runtime runs a static constructor in a critical section. In .NET 8, and in composite
            // images, into which methods of .NET are inlined, no method of .NET below the wait says so. But the runtime
            // holds no other lock of its own while it runs managed code. Test:
            // FindingsTest.AMethodOfDotnetIsInlinedBelowAConstructorsLock.
            rename_wait(seen.wait, "critical-section", "class-constructor");
          }
        }
      }
      if (!dumps_[dump].tasks.empty()) name_task_waits(dump, latest);
    }
  }

  // `latest`: the index of the history of each thread of the dump, by OS id.
  void name_task_waits(std::uint32_t dump, const std::unordered_map<std::uint32_t, std::size_t>& latest) {
    const WaitGraph graph(dumps_[dump]);
    for (std::uint32_t i = 0; i < dumps_[dump].threads.size(); ++i) {
      const TaskPath path = task_path(graph, i);
      Sighting& seen = histories_[latest.at(dumps_[dump].threads[i].os_id)].sightings.back();
      if (path.nodes.empty() || seen.dump != dump || seen.thread != i) continue;
      name_task_wait(seen.wait, graph, i, path);
      seen.task_path = path_number(graph, path);
    }
  }

  // Frames above the frame by which the wait was recognised belong to the wait itself, and may differ while it lasts.
  static std::size_t above_wait(const Wait& wait) {
    if (is_spin_wait(wait.rule) && wait.program != kNoFrame) return wait.program;
    const WaitRule* const rule = find_wait_rule(wait.rule);
    const bool skips = rule != nullptr && rule->layer != WaitLayer::call && rule->layer != WaitLayer::stack;
    const bool by_method = rule != nullptr && (rule->key == "pool-task-wait" || rule->key == "task-delay" ||
                                              rule->key == "main-wait");
    return (skips || by_method) && wait.frame != kNoFrame ? wait.frame : 0;
  }

  // Whether the same kinds of frames were left out of both dumps, so that their stacks can be compared.
  bool have_same_frames_left_out(const Sighting& a, const Sighting& b) const {
    const Omissions &first = dumps_[a.dump].omissions, &second = dumps_[b.dump].omissions;
    return first.native_frames == second.native_frames && first.frames_beyond == second.frames_beyond;
  }

  Likeness compare(const Sighting& a, const Sighting& b) const {
    if (!have_same_frames_left_out(a, b)) return Likeness::unclear;
    const std::vector<StackFrame>& first = thread(a).stack.frames;
    const std::vector<StackFrame>& second = thread(b).stack.frames;
    if (first.empty() || second.empty()) return Likeness::unclear;
    const bool same_wait = a.wait.rule == b.wait.rule && !a.wait.rule.empty();
    std::size_t i = same_wait ? above_wait(a.wait) : 0, k = same_wait ? above_wait(b.wait) : 0;
    for (;; ++i, ++k) {
      i = next_frame(first, i);
      k = next_frame(second, k);
      if (i >= first.size() || k >= second.size()) break;
      const bool gap = first[i].kind == FrameKind::gap || second[k].kind == FrameKind::gap;
      if (gap && first[i].kind != second[k].kind) return Likeness::unclear;
      if (!same_code(first[i], second[k])) break;
    }
    if (i >= first.size() && k >= second.size()) return Likeness::same;
    return rests_on_guess(first, i) || rests_on_guess(second, k) ? Likeness::unclear : Likeness::other;
  }

  // Folklore: the same frame is managed in one dump, and native or a stub in the other, if the runtime's debugging
  // library did not answer for one of them. Real case: on a machine with other work, the first of two dumps had no
  // answer within the limit. All threads of a program that hung had "moved", and nothing was stuck. Remedy: the kind of
  // a frame, which is an answer, is not compared. Tests: MatchTest and Hangs.ADumpWithoutManagedFramesProvesNoMove.
  static bool same_code(const Frame& a, const Frame& b) { return a.address == b.address; }

  // The place of the next frame, from `at` on, that is no inlined call. Inlined calls follow from the frame's address,
  // if a dump has symbols for them, or knows what the runtime has noted. `at` may be past the end.
  static std::size_t next_frame(const std::vector<StackFrame>& frames, std::size_t at) {
    while (at < frames.size() && frames[at].inline_depth != 0) ++at;
    return at;
  }

  // Whether the frame at `at` may be wrong because it, or a frame above it, was guessed. A frame that the CLR's own
  // walker reported is right, whatever is above it, and so are its callers. `at` may be past the end.
  static bool rests_on_guess(const std::vector<StackFrame>& frames, std::size_t at) {
    for (std::size_t i = std::min(at + 1, frames.size()); i-- != 0;) {
      if (frames[i].trust == Trust::runtime) return false;
      if (is_guess(frames[i].trust)) return true;
    }
    return false;
  }

  // Whether the runtime's debugging library did not answer for this dump, so that functions of managed code have other
  // ids than in other dumps.
  bool lacks_managed_functions(const Sighting& sighting) const { return !dumps_[sighting.dump].unasked.empty(); }

  // Whether the thread is in the same function of the program in both dumps, whatever that function calls. If there is
  // no such function, all functions must be the same.
  bool same_place(const Sighting& a, const Sighting& b) const {
    const std::uint32_t first = a.wait.program == kNoFrame ? 0 : a.wait.program;
    const std::uint32_t second = b.wait.program == kNoFrame ? 0 : b.wait.program;
    const auto& one = functions_[a.dump][a.thread];
    const auto& other = functions_[b.dump][b.thread];
    if (first >= one.size() || second >= other.size()) return false;
    return std::equal(one.begin() + first, one.end(), other.begin() + second, other.end());
  }

  std::uint32_t common_frames(const Sighting& a, const Sighting& b) const {
    const auto& one = functions_[a.dump][a.thread];
    const auto& other = functions_[b.dump][b.thread];
    const auto differ = std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend());
    return static_cast<std::uint32_t>(differ.first - one.rbegin());
  }

  std::optional<std::uint64_t> cpu(const Sighting& a, const Sighting& b) const { return cpu_between(dumps_, a, b); }

  void judge(ThreadHistory& history) const {
    std::vector<Sighting>& seen = history.sightings;
    for (std::size_t i = 1; i < seen.size(); ++i) note_progress(seen[i - 1], seen[i]);
    history.since = seen.back().dump;
    if (seen.size() > 1) {
      const Sighting& before = seen[seen.size() - 2];
      history.common = common_frames(before, seen.back());
    }
    // This goes back through consecutive dumps as long as the thread has not moved and has not run in between.
    std::size_t from = seen.size() - 1;
    const auto is_unmoved = [&](std::size_t i) {
      return adjacent(seen[i - 1], seen[i]) && compare(seen[i - 1], seen[i]) == Likeness::same &&
             has_not_run(seen[i - 1], seen[i]) && !waits_for_something_else(seen[i - 1], seen[i]);
    };
    while (from != 0 && is_unmoved(from)) --from;
    std::size_t begin = from == seen.size() - 1 && seen.size() > 1 ? from - 1 : from;
    if (!is_spin_wait(seen.back().wait.rule) && ran_a_little_each_time(std::span(seen).subspan(from))) {
      begin = from;
      from = seen.size() - 1;
    }
    history.since = seen[from].dump;
    std::size_t same_wait = seen.size() - 1;
    while (same_wait != 0 && may_poll(seen[same_wait - 1], seen[same_wait])) --same_wait;
    history.polls_since = seen[same_wait].dump;
    if (begin != seen.size() - 1) {
      history.cpu = cpu(seen[begin], seen.back());
      history.milliseconds = time_between(dumps_, seen[begin], seen.back());
    }
    history.verdict = verdict(history, from);
  }

  void note_progress(const Sighting& a, Sighting& b) const {
    if (!adjacent(a, b)) return;
    const Likeness likeness = compare(a, b);
    b.moved = likeness == Likeness::other;
    b.went_on = b.moved || (likeness == Likeness::same && (!has_not_run(a, b) || waits_for_something_else(a, b)));
  }

  // Whether a thread that is at the same place in both dumps has got the end of a task in between, or a task for which
  // it waits has gone on, or the queue in which it waits has moved.
  //
  // Folklore: a thread that adds to a full BlockingCollection, from which another one slowly takes, uses hardly any
  // processor time, and waits in each dump. Real case: a producer whose consumer took an item each 20 ms was stuck.
  // Test: MatchTest.AQueueThatMoves, and the way `slow-consumer` of hangs.exe.
  bool waits_for_something_else(const Sighting& a, const Sighting& b) const {
    return differ(a.task_path, b.task_path) || queue_moved(dumps_, a, b);
  }

  // Whether a thread that is at the same place in both dumps has not run in between, but only waited. A thread that
  // spins waits as long as it uses less than most of the time.
  bool has_not_run(const Sighting& a, const Sighting& b) const {
    const std::uint64_t used = cpu(a, b).value_or(0);
    return used < kNoCpu || (is_spin_wait(b.wait.rule) && !used_more_than(kSpinShare, a, b));
  }

  // Whether the thread ran for more than this part of the time, as far as is known.
  bool used_more_than(std::uint64_t share, const Sighting& a, const Sighting& b) const {
    return is_more_than(share, cpu(a, b).value_or(0), time_between(dumps_, a, b));
  }

  // Whether this processor time is more than 1 / `share` of that time. No integers are used, because times in a forged
  // file may be too large for 64 bits in units of 100 ns.
  static bool is_more_than(std::uint64_t share, std::uint64_t cpu, std::uint64_t milliseconds) {
    return static_cast<double>(cpu) * static_cast<double>(share) > static_cast<double>(milliseconds) * kTicksOfMs;
  }

  // Whether a thread waits at the same place in both dumps, and may have waited all the time: it has looked again and
  // again whether it may go on.
  bool may_poll(const Sighting& a, const Sighting& b) const {
    const WaitState state = b.wait.state;
    const bool waits = state == WaitState::blocked || state == WaitState::calls || state == WaitState::signal;
    return waits && a.wait.rule == b.wait.rule && adjacent(a, b) && compare(a, b) == Likeness::same &&
           (has_not_run(a, b) || !used_more_than(kPollShare, a, b)) && !waits_for_something_else(a, b);
  }

  // The system may charge a clock tick between two dumps to a thread that did not run. A thread that got processor
  // time in at least half of the intervals between them, and kNoCpu in total, has done a little work each time.
  bool ran_a_little_each_time(std::span<const Sighting> sightings) const {
    std::size_t times = 0;
    for (std::size_t i = 1; i < sightings.size(); ++i) {
      times += cpu(sightings[i - 1], sightings[i]).value_or(0) >= kTicksOfMs;
    }
    return times >= 2 && times * 2 >= sightings.size() - 1 &&
           cpu(sightings.front(), sightings.back()).value_or(0) >= kNoCpu;
  }

  // Whether no other dump of the process is between these two; the thread would be missing from it.
  bool adjacent(const Sighting& a, const Sighting& b) const {
    const auto first = std::ranges::lower_bound(numbers_, a.dump);  // the numbers are ascending
    return first != numbers_.end() && first + 1 != numbers_.end() && *(first + 1) == b.dump;
  }

  Verdict verdict(ThreadHistory& history, std::size_t from) const {
    const std::vector<Sighting>& seen = history.sightings;
    if (numbers_.size() == 1) return Verdict::once;
    const auto lacks_threads = [&](std::uint32_t dump) { return dumps_[dump].omissions.threads; };
    const auto lacked_before = [&] { return std::ranges::any_of(numbers_.first(numbers_.size() - 1), lacks_threads); };
    if (seen.back().dump != numbers_.back()) return lacks_threads(numbers_.back()) ? Verdict::unclear : Verdict::gone;
    if (seen.size() == 1) return lacked_before() ? Verdict::unclear : Verdict::appeared;
    const Sighting &before = seen[seen.size() - 2], &last = seen.back();
    const WaitState state = last.wait.state;
    if (from != seen.size() - 1) {
      switch (state) {
        case WaitState::idle: return Verdict::idle;
        case WaitState::outside:
        case WaitState::signal: return Verdict::waiting;
        case WaitState::blocked:
        case WaitState::calls: return Verdict::stuck;
        case WaitState::runs:
        case WaitState::unknown: return Verdict::unclear;
      }
    }
    if (state == WaitState::idle && before.wait.state == WaitState::idle) return Verdict::idle;
    // The thread ran, or its stack has changed.
    const bool known = history.cpu.has_value() && history.milliseconds != 0;
    const bool busy = known && is_more_than(kSpinShare, *history.cpu, history.milliseconds);
    if (busy && same_place(before, last)) return Verdict::spinning;
    // The thread may be in the same function of managed code all the time.
    if (busy && (lacks_managed_functions(before) || lacks_managed_functions(last))) return Verdict::unclear;
    const Likeness likeness = compare(before, last);
    if (likeness == Likeness::same) return Verdict::returned;
    return likeness == Likeness::other ? Verdict::moved : Verdict::unclear;
  }

  std::span<const Snapshot> dumps_;
  std::span<const std::uint32_t> numbers_;
  std::span<const FunctionIds> functions_;
  std::vector<ThreadHistory> histories_;
};

}  // namespace

std::optional<std::uint64_t> cpu_between(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b) {
  const auto &first = dumps[a.dump].threads[a.thread].cpu, &second = dumps[b.dump].threads[b.thread].cpu;
  if (!first || !second || *second < *first) return std::nullopt;
  return *second - *first;
}

std::uint64_t time_between(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b) {
  const std::uint64_t first = dumps[a.dump].unix_time_ms, second = dumps[b.dump].unix_time_ms;
  return first == 0 || second < first ? 0 : second - first;
}

bool queue_moved(std::span<const Snapshot> dumps, const Sighting& a, const Sighting& b) {
  return differ(dumps[a.dump].threads[a.thread].queue_position, dumps[b.dump].threads[b.thread].queue_position);
}

std::vector<std::uint32_t> same_processes(std::span<const Snapshot> dumps) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::size_t> latest;  // for each process, its last dump so far
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    const auto known =
        std::ranges::find_if(latest, [&](std::size_t before) { return same_process(dumps[before], dumps[i]); });
    numbers.push_back(static_cast<std::uint32_t>(known - latest.begin()));
    if (known == latest.end()) {
      latest.push_back(i);
    } else {
      *known = i;
    }
  }
  return numbers;
}

std::vector<ThreadHistory> match_threads(std::span<const Snapshot> dumps, std::span<const std::uint32_t> numbers,
                                         std::span<const FunctionIds> functions) {
  return Matcher(dumps, numbers, functions).run();
}

}  // namespace mixwalk
