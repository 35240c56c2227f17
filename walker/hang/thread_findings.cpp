// Findings about threads that no lock explains.

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// In a pool of fewer workers, it means little that all of them are busy.
constexpr std::size_t kMinWorkers = 3;
// Fewer threads in one call are no pattern.
constexpr std::size_t kMinThreadsInCall = 2;

// Workers that wait for a time, for other programs or for signals look the same in a program that runs its loops as
// pool items and in a program whose pool is starved. The difference is that only a starved pool gets further workers.
void starved_pool(ProcessFindings& process) {
  std::vector<std::uint32_t> workers;
  std::map<std::string_view, std::size_t> rules;
  std::size_t without_progress = 0;
  bool grows = false;
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& worker = process.threads[index];
    if (!is_pool_worker(process.thread(worker))) continue;
    const bool progresses = process.progressing.contains(index);
    const Wait& wait = worker.last().wait;
    const bool blocked = wait.state != WaitState::runs && wait.state != WaitState::unknown;
    // The pool adds a worker once or twice a second as long as it is starved. The newest one was in no dump before.
    const bool is_new = worker.verdict == Verdict::appeared && blocked;
    if ((!process.does_not_run(worker) && !is_new) || wait.state == WaitState::idle) return;
    without_progress += !is_new && !progresses;
    grows = grows || worker.sightings.front().dump != process.numbers.front();
    workers.push_back(index);
    ++rules[wait.rule];
  }
  if (without_progress < kMinWorkers) return;
  const auto most = std::ranges::max_element(rules, {}, &decltype(rules)::value_type::second);
  if (most->second * 2 <= workers.size()) return;
  std::stable_partition(workers.begin(), workers.end(), [&](std::uint32_t index) {
    return process.threads[index].last().wait.rule == most->first;
  });
  const Wait& wait = process.threads[workers.front()].last().wait;
  const bool starved = wait.state == WaitState::blocked || wait.state == WaitState::calls || grows;
  Finding out =
      process.finding(FindingKind::starved_pool, process.several && starved ? Severity::stuck : Severity::note,
                      starved_pool_text(workers.size(), most->second, wait, starved));
  process.put_threads(out, workers);
  std::ranges::sort(out.behind);
  process.add(std::move(out));
}

void common_calls(ProcessFindings& process) {
  const std::string apartment_calls(kApartmentCalls);
  std::map<std::string, std::vector<std::uint32_t>> calls;
  std::size_t stuck = 0;
  for (const std::uint32_t index : process.by_place) {
    if (process.threads[index].verdict != Verdict::stuck || process.covered.contains(index)) continue;
    ++stuck;
    const Wait& wait = process.threads[index].last().wait;
    const std::string& call = calls_apartment(wait) ? apartment_calls : wait.call;
    if (!call.empty()) calls[call].push_back(index);
  }
  for (auto& [call, threads] : calls) {
    if (threads.size() < kMinThreadsInCall || threads.size() * 2 <= stuck) continue;
    Finding out =
        process.finding(FindingKind::common_call, Severity::stuck, common_call_text(threads.size(), call));
    process.put_threads(out, threads);
    process.add(std::move(out));
  }
}

void spinning(ProcessFindings& process) {
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& history = process.threads[index];
    if (history.verdict != Verdict::spinning) continue;
    Finding out = process.finding(
        FindingKind::spinning, Severity::note,
        {"A thread runs all the time in the same function: " + thread_words(process.thread(history)), {}});
    out.threads.push_back(process.part(index, state_words(history)));
    process.add(std::move(out));
  }
}

void stuck_groups(ProcessFindings& process) {
  std::map<std::pair<std::string_view, std::vector<std::string>>, std::vector<std::uint32_t>> groups;
  for (const std::uint32_t index : process.by_place) {
    const ThreadHistory& history = process.threads[index];
    if (history.verdict != Verdict::stuck || process.covered.contains(index)) continue;
    std::vector<std::string> stack;
    for (const Frame& frame : process.thread(history).stack.frames) {
      if (frame.kind != FrameKind::native) stack.push_back(frame.name + frame.target);
    }
    groups[{history.last().wait.rule, std::move(stack)}].push_back(index);
  }
  std::vector<std::vector<std::uint32_t>> ordered;
  for (auto& [key, threads] : groups) ordered.push_back(std::move(threads));
  std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  for (const auto& threads : ordered) {
    const ThreadHistory& first = process.threads[threads.front()];
    Finding out = process.finding(FindingKind::stuck, Severity::stuck,
                                  stuck_text(threads.size(), process.thread(first), first.last().wait));
    process.put_threads(out, threads);
    process.add(std::move(out));
  }
}

}  // namespace

void find_threads(ProcessFindings& process) {
  starved_pool(process);
  find_finalizer(process);
  common_calls(process);
  spinning(process);
  stuck_groups(process);
}

}  // namespace mixwalk
