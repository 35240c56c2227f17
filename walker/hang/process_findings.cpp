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
  switch (thread.verdict) {
    case Verdict::once: return thread.last().wait.state == WaitState::runs ? Progress::yes : Progress::no;
    case Verdict::stuck:
    case Verdict::spinning:
    case Verdict::waiting:
    case Verdict::idle: return Progress::no;
    case Verdict::unclear: return has_not_run(thread) ? Progress::no : Progress::unclear;
    case Verdict::returned: return polls(thread) ? Progress::no : Progress::yes;
    case Verdict::moved:
    case Verdict::appeared:
    case Verdict::gone: break;
  }
  return Progress::yes;
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
