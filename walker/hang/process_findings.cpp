#include "walker/hang/process_findings.h"

#include <algorithm>
#include <utility>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/match.h"
#include "walker/hang/task_words.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// Whether the thread has not moved since an earlier dump and has not run, although it is not known what it does.
bool has_not_run(const ThreadHistory& thread) {
  return thread.since != thread.last().dump && thread.cpu && *thread.cpu < kNoCpu;
}

// For each thread that waits for a task, the node at the end of its chain: the last one, or the thread pool, of which
// it is open which worker takes the work. kNone for other threads, and for those that never go on. Linear.
std::vector<std::uint32_t> ends_of_tasks(const ProcessFindings& process, const GraphChains& waits) {
  const WaitGraph& graph = process.graph;
  std::vector<std::uint32_t> ends(graph.size(), WaitGraph::kNone);  // by node, of the nodes met so far
  std::vector<std::uint32_t> out(process.by_place.size(), WaitGraph::kNone);
  for (std::uint32_t place = 0; place < out.size(); ++place) {
    const std::uint32_t first = waits.next[place];
    const bool waits_for_task = process.snapshot.threads[place].waits_for_task != AsyncTask::kNone;
    if (!waits_for_task || first == WaitGraph::kNone || waits.locked[place]) continue;
    if (graph.node(first).kind != WaitNode::Kind::task) continue;
    const auto is_end = [&](std::uint32_t node) {
      return node == graph.pool_node() || waits.next[node] == WaitGraph::kNone;
    };
    std::uint32_t end = first;
    while (ends[end] == WaitGraph::kNone && !is_end(end)) end = waits.next[end];
    if (ends[end] != WaitGraph::kNone) end = ends[end];
    for (std::uint32_t at = first; ends[at] == WaitGraph::kNone; at = waits.next[at]) {
      ends[at] = end;
      if (at == end) break;
    }
    out[place] = end;
  }
  return out;
}

// The progress of what is in the queue of the thread pool. Folklore: which worker takes it is open. Real case: a worker
// at a socket had a lower number than one that had nothing to do, and the holder of a lock, whose timer was due, was
// stuck. Remedy: one worker that goes on is enough, and a pool that may get a further worker is never known to stand.
// Test: TaskFindingsTest.TheHolderOfALockWaitsForAnyWorkerOfThePool.
Progress progress_of_pool(const ProcessFindings& process) {
  const WaitGraph& graph = process.graph;
  Progress best = graph.way_out(graph.pool_node()) == WayOut::unknown ? Progress::unclear : Progress::no;
  for (const std::uint32_t worker : graph.workers()) {
    const bool is_free = process.history(worker).last().wait.state == WaitState::idle;
    const Progress progress = is_free ? Progress::yes : process.progress(process.by_place[worker]);
    if (progress == Progress::yes) return progress;
    if (progress == Progress::unclear) best = progress;
  }
  return best;
}

// The progress of a task whose chain ends at this node, which is not the pool.
Progress progress_of_end(const ProcessFindings& process, std::uint32_t end) {
  const WaitGraph& graph = process.graph;
  if (graph.is_thread(end)) return process.progress(process.by_place[end]);
  switch (graph.way_out(end)) {
    case WayOut::time: return Progress::yes;
    // It is at work, or about to be. That it was so in each dump does not prove that it was so all the time.
    case WayOut::runs: return Progress::unclear;
    case WayOut::none:
    case WayOut::unknown:
    case WayOut::outside: break;
  }
  return Progress::no;
}

}  // namespace

ProcessFindings::ProcessFindings(std::span<const Snapshot> all_dumps, std::span<const std::uint32_t> own_numbers,
                                 std::vector<ThreadHistory>& histories, std::uint32_t first_thread,
                                 std::span<const std::vector<std::vector<std::uint64_t>>> all_functions)
    : dump(own_numbers.back()),
      several(own_numbers.size() > 1),
      dumps(all_dumps),
      numbers(own_numbers),
      functions(all_functions),
      snapshot(dumps[dump]),
      graph(snapshot),
      threads(histories),
      by_place(snapshot.threads.size(), kNoThread) {
  for (std::uint32_t i = first_thread; i < threads.size(); ++i) {
    own_threads.push_back(i);
    if (threads[i].last().dump == dump) by_place[threads[i].last().thread] = i;
  }
}

bool ProcessFindings::does_not_run(const ThreadHistory& history) const {
  if (several) return history.verdict == Verdict::stuck || history.verdict == Verdict::waiting;
  const WaitState state = history.last().wait.state;
  return state != WaitState::runs && state != WaitState::unknown;
}

bool ProcessFindings::sleeps(const ThreadHistory& history) const {
  const std::string_view rule = history.last().wait.rule;
  return (rule == "sleep" || rule == "native-sleep" || rule == "task-delay") && history.verdict != Verdict::spinning;
}

bool ProcessFindings::polls(const ThreadHistory& history) const {
  return history.verdict == Verdict::returned && history.polls_since != history.last().dump;
}

Progress ProcessFindings::progress(std::uint32_t index) const {
  const ThreadHistory& thread = threads[index];
  if (sleeps(thread) || progressing.contains(index)) return Progress::yes;
  const std::uint32_t place = thread.last().thread;
  const bool follows = thread.last().dump == dump && place < task_progress.size();
  const Progress of_task = follows ? task_progress[place] : Progress::no;
  switch (thread.verdict) {
    case Verdict::once: return thread.last().wait.state == WaitState::runs ? Progress::yes : of_task;
    case Verdict::idle: {
      // A thread that holds a lock and takes items goes on as long as there are items.
      const std::vector<Sighting>& seen = thread.sightings;
      const bool takes = seen.size() > 1 && queue_moved(dumps, seen[seen.size() - 2], seen.back());
      return takes ? Progress::yes : of_task;
    }
    case Verdict::stuck:
    case Verdict::waiting: return of_task;
    case Verdict::spinning: return Progress::no;
    case Verdict::unclear: return has_not_run(thread) ? of_task : Progress::unclear;
    case Verdict::returned: return polls(thread) ? Progress::no : Progress::yes;
    case Verdict::moved:
    case Verdict::appeared:
    case Verdict::gone: break;
  }
  return Progress::yes;
}

// Folklore: a lock may be held by a thread that waits for a task, and the task goes on all the time. Real case: Lazy<T>
// whose method blocks on an async method that awaits Task.Delay in a loop: in 2 of 3 pairs of dumps the method was
// about to go on in both, and the threads that waited for the value were stuck. Remedy: what ends the task decides
// whether the holder makes progress. Test: TaskFindingsTest.TheHolderOfALockWaitsForATaskThatGoesOn.
void ProcessFindings::follow_tasks(const GraphChains& waits) {
  const std::vector<std::uint32_t> ends = ends_of_tasks(*this, waits);
  task_progress.assign(ends.size(), Progress::no);
  for (std::uint32_t place = 0; place < ends.size(); ++place) {
    if (ends[place] == WaitGraph::kNone || ends[place] == graph.pool_node()) continue;
    task_progress[place] = progress_of_end(*this, ends[place]);
  }
  // The workers that wait for the pool themselves do not let it go on.
  const Progress pool = progress_of_pool(*this);
  for (std::uint32_t place = 0; place < ends.size(); ++place) {
    if (ends[place] == graph.pool_node()) task_progress[place] = pool;
  }
}

void ProcessFindings::mark_progressing(std::uint32_t index) {
  progressing.insert(index);
  if (threads[index].verdict == Verdict::stuck) threads[index].verdict = Verdict::waiting;
}

void ProcessFindings::set_since(ThreadHistory& history, std::uint32_t since) const {
  const auto first = std::ranges::find(history.sightings, since, &Sighting::dump);
  if (first == history.sightings.end()) return;
  history.since = since;
  history.cpu = cpu_between(dumps, *first, history.last());
  history.milliseconds = time_between(dumps, *first, history.last());
}

FindingThread ProcessFindings::part(std::uint32_t index, std::string words) const {
  const Wait& wait = threads[index].last().wait;
  const std::uint32_t frame = wait.program != kNoFrame ? wait.program : wait.frame;
  return {.thread = index, .dump = dump, .frame = frame, .words = std::move(words), .holds = {}};
}

Finding ProcessFindings::finding(FindingKind kind, Severity severity, FindingText text) const {
  Finding out{.kind = kind, .severity = severity, .title = std::move(text.title), .details = std::move(text.details)};
  out.since = dump;
  return out;
}

void ProcessFindings::put_threads(Finding& finding, const std::vector<std::uint32_t>& indices) const {
  for (const std::uint32_t index : indices) {
    if (finding.threads.size() < kShownThreads) {
      finding.threads.push_back(part(index, threads[index].last().wait.words));
    } else {
      finding.behind.push_back(index);
    }
  }
  if (!finding.behind.empty()) finding.details.push_back(unlisted_words(finding.behind.size(), indices.size()));
}

void ProcessFindings::add(Finding finding) {
  std::uint32_t since = 0;
  const auto cover = [&](std::uint32_t index) {
    const bool left = finding.severity == Severity::note && threads[index].verdict == Verdict::stuck;
    if (!left) covered.insert(index);
  };
  for (const FindingThread& part : finding.threads) {
    cover(part.thread);
    since = std::max(since, threads[part.thread].since);
  }
  std::ranges::for_each(finding.behind, cover);
  if (!finding.threads.empty()) finding.since = since;
  const bool lasts = finding.severity == Severity::deadlock || finding.severity == Severity::stuck;
  if (lasts || finding.kind == FindingKind::spinning) {
    if (std::string text = duration_words(threads, finding); !text.empty()) {
      finding.details.push_back(std::move(text));
    }
  }
  if (lasts) {
    const auto handles = [&](const FindingThread& part) {
      const std::vector<HandledException>& exceptions = thread(threads[part.thread]).handles;
      return !exceptions.empty() && !exceptions.front().objects.empty();
    };
    const auto part = std::ranges::find_if(finding.threads, handles);
    if (part != finding.threads.end()) finding.details.push_back(handler_detail(thread(threads[part->thread])));
  }
  findings.push_back(std::move(finding));
}

std::vector<Outlook> ProcessFindings::outlooks() const {
  std::vector<Outlook> out;
  for (const std::uint32_t index : by_place) {
    const ThreadHistory& thread = threads[index];
    const WaitState state = thread.last().wait.state;
    if (sleeps(thread) || progressing.contains(index)) {
      out.push_back(Outlook::goes_on);
    } else if (several ? thread.verdict == Verdict::stuck
                       : state == WaitState::blocked || state == WaitState::calls) {
      out.push_back(Outlook::stands);
    } else {
      const bool unclear = several ? thread.verdict == Verdict::unclear : state == WaitState::unknown;
      out.push_back(unclear ? Outlook::unclear : Outlook::goes_on);
    }
  }
  return out;
}

bool ProcessFindings::waits_for_constructor(const ThreadHistory& history) {
  const std::string_view rule = history.last().wait.rule;
  return rule == "class-constructor" || rule == "native-class-constructor";
}

bool ProcessFindings::is_constructor_lock(const WaitLink& link) const {
  return link.owner != WaitLink::kNone && waits_for_constructor(history(link.thread)) &&
         running_constructor(snapshot.threads[link.owner]) != nullptr;
}

bool ProcessFindings::holds_it_itself(const GraphChains& waits, const WaitLink& link) const {
  return link.lock != WaitLink::kNone && waits.path(graph, link.thread).size() == 1;
}

FindingThread ProcessFindings::waiter(const GraphChains& waits, const WaitLink& link) const {
  const std::vector<std::uint32_t> path = waits.path(graph, link.thread);
  const Thread* const owner = link.owner != WaitLink::kNone ? &snapshot.threads[link.owner] : nullptr;
  const bool by_lock = link.lock != WaitLink::kNone && path.size() == 1;
  FindingThread out = part(by_place[link.thread],
                           is_constructor_lock(link) ? constructor_waiter_words(*owner)
                           : by_lock                 ? waiter_words(snapshot.locks[link.lock], owner)
                                                     : path_words(graph, link.thread, path, link.owner));
  out.waits_for = link.lock;
  return out;
}

void ProcessFindings::settle_verdicts() {
  const auto settle = [&](std::uint32_t index) {
    if (threads[index].verdict != Verdict::spinning) threads[index].verdict = Verdict::stuck;
  };
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::note || finding.severity == Severity::crash) continue;
    for (const FindingThread& part : finding.threads) settle(part.thread);
    std::ranges::for_each(finding.behind, settle);
  }
}

}  // namespace mixwalk
