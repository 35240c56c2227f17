// Findings about threads that wait for tasks of which it is not proven what ends them, and for the output of processes
// that have ended.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/task_words.h"

namespace mixwalk {
namespace {

// What could end the wait at the end of the path, as a sentence; nothing if it is known, or if nothing can be said.
std::optional<std::string> unproven_end(const WaitGraph& graph, const TaskPath& path) {
  if (path.owner != WaitGraph::kNone) return std::nullopt;
  const WaitNode last = graph.node(path.nodes.back());
  const Snapshot& snapshot = graph.snapshot();
  switch (last.kind) {
    case WaitNode::Kind::task: {
      const AsyncTask& task = snapshot.tasks[last.index];
      if (has_ended(task.status)) {
        if (!task.not_resumed) return std::nullopt;
        return "The last task has ended. It is not known which queue has its continuation.";
      }
      if (task.kind == TaskKind::value_source) {
        return "An awaited object that is no task ends when the program says so" +
               (task.type.empty() ? "" : ": " + clipped(task.type)) +
               ". The dump does not show which code would do so.";
      }
      if (task.kind != TaskKind::completion_source) return std::nullopt;
      return "A TaskCompletionSource ends when the program calls SetResult, SetException or SetCanceled. The dump does "
             "not show which code would do so.";
    }
    case WaitNode::Kind::context: {
      const std::string& type = snapshot.contexts[last.index].type;
      if (snapshot.contexts[last.index].address == 0) {
        return "The last task has ended. It is not known which queue has its continuation.";
      }
      return "A continuation was posted to " + (type.empty() ? "a context" : clipped(type)) +
             ". It is not known which thread runs what is posted there.";
    }
    case WaitNode::Kind::lock: {
      const Lock& lock = snapshot.locks[last.index];
      if (lock.is_free()) return std::nullopt;
      const std::size_t known = lock.sharers.size() + lock.task_holders.size();
      if (known != 0 && !lock.has_all_holders()) return open_semaphore_words(lock);
      if (known == 1) return "It is not known whether the holder of " + lock_words(lock) + " goes on.";
      if (known > 1) return "It is not known which of its holders will release " + lock_words(lock) + ".";
      return "It is not known who has entered " + lock_words(lock) + " and has not released it.";
    }
    case WaitNode::Kind::thread:
    case WaitNode::Kind::pool: break;
  }
  return std::nullopt;
}

bool is_in_timer(const Thread& thread) { return has_method(thread, "System.Threading.TimerQueueTimer."); }

// A thread that waits for a task may wait for ever, and may well be right to do so. So this is only a note.
void unclear_tasks(ProcessFindings& process) {
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> groups;  // by the task and by its end
  for (std::uint32_t place = 0; place < process.by_place.size(); ++place) {
    const std::uint32_t index = process.by_place[place];
    ThreadHistory& history = process.threads[index];
    const TaskPath path = task_path(process.graph, place);
    const bool left = process.covered.contains(index) || process.progressing.contains(index);
    if (path.nodes.empty() || left || !process.does_not_run(history)) continue;
    if (process.graph.way_out(place) == WayOut::time) continue;
    if (history.last().wait.state == WaitState::idle) continue;
    std::optional<std::string> end = unproven_end(process.graph, path);
    if (!end) continue;
    const bool stands = history.verdict == Verdict::stuck || history.verdict == Verdict::waiting;
    if (process.several && stands) history.verdict = Verdict::unclear;
    if (is_in_timer(process.thread(history))) {
      *end += " The thread is in the callback of a timer: the task of Timer.DisposeAsync waits for the end of that "
              "callback.";
    }
    const AsyncTask& first = process.snapshot.tasks[process.graph.node(path.nodes.front()).index];
    groups[{task_words(first), std::move(*end)}].push_back(index);
  }
  for (const auto& [key, threads] : groups) {
    const Thread& first = process.thread(process.threads[threads.front()]);
    Finding out = process.finding(FindingKind::unclear_task, Severity::note,
                                  unclear_task_text(threads.size(), first, key.second));
    process.put_threads(out, threads);
    process.add(std::move(out));
  }
}

// Folklore: the pipe of a process's output is read by a worker of the pool, which blocks in the read. Real case: way
// "process-output" of fixtures/hangs. Remedy: a thread that only reads is not at work on the output, unless it reads in
// code of the program, which handles the output. Test: TaskFindingsTest.
bool only_reads(const ProcessFindings& process, const ThreadHistory& history) {
  const Wait& wait = history.last().wait;
  return process.does_not_run(history) && wait.program == kNoFrame &&
         (wait.rule == "file-read" || wait.rule == "managed-file-read");
}

// The process has ended, but not the output that it has left to another one. As long as a thread of this process works
// on the output, its end may come.
void process_outputs(ProcessFindings& process) {
  const std::vector<Outlook> outlooks = process.outlooks();
  std::vector<std::uint32_t> waiters;
  for (std::uint32_t place = 0; place < process.by_place.size(); ++place) {
    const std::uint32_t index = process.by_place[place];
    const ThreadHistory& history = process.threads[index];
    if (history.last().wait.rule != "process-output" || process.covered.contains(index)) continue;
    const std::uint32_t owner = task_path(process.graph, place).owner;
    const bool is_used = owner != WaitGraph::kNone && outlooks[owner] == Outlook::goes_on &&
                         !only_reads(process, process.history(owner));
    if (process.does_not_run(history) && !is_used) waiters.push_back(index);
  }
  if (waiters.empty()) return;
  // Without the tasks, a thread may be at work on the output.
  const bool known = std::ranges::all_of(waiters, [&](std::uint32_t index) {
    return process.thread(process.threads[index]).waits_for_task != AsyncTask::kNone;
  });
  Finding out = process.finding(
      FindingKind::process_output, process.several && known ? Severity::stuck : Severity::note,
      process_output_text(waiters.size(), process.thread(process.threads[waiters.front()])));
  process.put_threads(out, waiters);
  process.add(std::move(out));
}

}  // namespace

void find_tasks(ProcessFindings& process) {
  process_outputs(process);
  unclear_tasks(process);
}

}  // namespace mixwalk
