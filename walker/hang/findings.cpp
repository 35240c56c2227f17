#include "walker/hang/findings.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "walker/hang/finding_gaps.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/function_ids.h"
#include "walker/hang/match.h"
#include "walker/hang/process_findings.h"

namespace mixwalk {
namespace {

bool lacks_frames(const Snapshot& dump) {
  return dump.omissions.native_frames || dump.omissions.frames_beyond != 0 || !dump.unasked.empty();
}

// What decides which of two findings comes first: the weight and the kind, then that the program's main thread is in
// it, the number of its threads, and their names. The ids of threads differ from run to run, and decide nothing.
auto rank_of(const Findings& findings, const Finding& finding) {
  bool main = false;
  std::vector<std::string_view> names;
  for (const FindingThread& part : finding.threads) {
    const ThreadHistory& thread = findings.threads[part.thread];
    main = main || thread.roles.main;
    names.emplace_back(thread.name);
  }
  std::ranges::sort(names);
  const std::size_t fewer = ~(finding.threads.size() + finding.behind.size());
  return std::tuple(finding.severity, finding.kind, !main, fewer, std::move(names));
}

void sort_findings(Findings& out) {
  // The index keeps findings of one rank in their order.
  std::vector<std::pair<decltype(rank_of(out, out.findings.front())), std::size_t>> order;
  for (std::size_t i = 0; i < out.findings.size(); ++i) order.emplace_back(rank_of(out, out.findings[i]), i);
  std::ranges::sort(order);
  std::vector<Finding> sorted;
  for (const auto& [rank, at] : order) sorted.push_back(std::move(out.findings[at]));
  out.findings = std::move(sorted);
}

}  // namespace

Findings find_hangs(std::span<const Snapshot> dumps, std::span<const std::string> files) {
  Findings out;
  const std::vector<std::uint32_t> processes = same_processes(dumps);
  std::vector<std::vector<std::vector<std::uint64_t>>> functions;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    functions.push_back(function_ids(dumps[i]));
    out.dumps.push_back({i < files.size() ? files[i] : std::string(), dumps[i].unix_time_ms, processes[i],
                         static_cast<std::uint32_t>(dumps[i].threads.size())});
  }
  add_dump_gaps(dumps, out.gaps);
  out.frames_missing = std::ranges::any_of(dumps, lacks_frames);
  const std::uint32_t count = processes.empty() ? 0 : *std::ranges::max_element(processes) + 1;
  for (std::uint32_t process = 0; process < count; ++process) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < processes.size(); ++i) {
      if (processes[i] == process) numbers.push_back(i);
    }
    const auto first = static_cast<std::uint32_t>(out.threads.size());
    std::ranges::move(match_threads(dumps, numbers, functions), std::back_inserter(out.threads));
    ProcessFindings found(dumps, numbers, out.threads, first, functions);
    find_crash(found);
    find_locks(found);
    find_tasks(found);
    find_threads(found);
    found.settle_verdicts();
    std::ranges::move(found.findings, std::back_inserter(out.findings));
    add_finding_gaps(dumps[numbers.back()], numbers.back(), std::span(out.threads).subspan(first), out.gaps);
  }
  sort_findings(out);
  out.groups = stack_groups(out.threads, functions);
  if (!dumps.empty()) out.tree = parallel_stacks(dumps.back(), functions.back());
  return out;
}

Severity severity(const Findings& findings) {
  return findings.findings.empty() ? Severity::note : findings.findings.front().severity;
}

std::string headline(const Findings& findings) {
  if (severity(findings) == Severity::crash) {
    const Finding& crash = findings.findings.front();
    const std::string what = crash.title.substr(crash.title.find(':'));
    if (crash.threads.empty()) return "a thread crashed" + what;
    const ThreadHistory& thread = findings.threads[crash.threads.front().thread];
    return "thread " + hex(thread.os_id) + (thread.name.empty() ? "" : " \"" + clipped(thread.name) + "\"") +
           " " + crash.threads.front().words + what;
  }
  std::set<std::uint32_t> deadlocked;
  for (const Finding& finding : findings.findings) {
    if (finding.severity != Severity::deadlock) continue;
    for (const FindingThread& part : finding.threads) deadlocked.insert(part.thread);
  }
  std::size_t stuck = 0;
  for (std::uint32_t i = 0; i < findings.threads.size(); ++i) {
    stuck += findings.threads[i].verdict == Verdict::stuck && !deadlocked.contains(i);
  }
  const auto are = [](std::size_t count) { return count == 1 ? " is " : " are "; };
  if (!deadlocked.empty()) {
    std::string text = count_words(deadlocked.size(), "thread") + are(deadlocked.size()) + "deadlocked";
    if (stuck != 0) text += ", and " + std::to_string(stuck) + " more" + are(stuck) + "stuck";
    return text;
  }
  if (severity(findings) == Severity::deadlock) return "tasks are deadlocked";
  if (stuck != 0) return count_words(stuck, "thread") + are(stuck) + "stuck";
  if (findings.threads.empty()) return "there is no thread to look at";
  // If no thread is in two dumps, nothing can be compared.
  const bool compared =
      std::ranges::any_of(findings.threads, [](const ThreadHistory& thread) { return thread.sightings.size() > 1; });
  if (!compared) return "no deadlock is seen; only two or more dumps of a thread show whether it is stuck";
  return findings.frames_missing ? "nothing is known to be stuck" : "nothing is stuck";
}

}  // namespace mixwalk
