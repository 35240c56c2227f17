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

// Fewer threads in one call are no pattern.
constexpr std::size_t kMinThreadsInCall = 2;

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
  find_starved_pool(process);
  find_finalizer(process);
  common_calls(process);
  spinning(process);
  stuck_groups(process);
}

}  // namespace mixwalk
