#include "walker/model/counters.h"

#include <algorithm>

namespace mixwalk {
namespace {

// Nearest rank: the smallest value that this percentage of all values does not exceed.
Percentiles percentiles(std::vector<std::uint64_t>& all) {
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  const auto rank = [&all](std::size_t percent) { return all[(all.size() * percent + 99) / 100 - 1]; };
  return {rank(50), rank(99), all.back()};
}

}  // namespace

std::uint64_t Counters::calls_checked() const noexcept {
  std::uint64_t all = 0;
  for (const std::uint64_t of_kind : calls) all += of_kind;
  return all - calls[static_cast<std::size_t>(CallCheck::unchecked)];
}

double Counters::calls_verified() const noexcept {
  const std::uint64_t checked = calls_checked();
  const std::uint64_t verified = calls[static_cast<std::size_t>(CallCheck::verified)];
  return checked == 0 ? 0 : static_cast<double>(verified) / static_cast<double>(checked);
}

void CountersBuilder::add(const Thread& thread) {
  if (!thread.skipped.empty()) {
    ++counters_.skipped;
    return;
  }
  ++counters_.samples;
  frozen_ns_.push_back(thread.frozen_ns);
  stopping_ns_.push_back(thread.stopping_ns);
  const Stack& stack = thread.stack;
  counters_.whole += stack.whole();
  counters_.guessed += stack.completeness() == Completeness::guessed;
  if (stack.refusal != 0) ++counters_.refusals[stack.refusal];
  counters_.fallbacks += stack.refusal != 0 || thread.probe == ProbeResult::failed ||
                         thread.walk_off;
  counters_.not_asked += thread.at_risk;
  counters_.probes_run += thread.probe != ProbeResult::none;
  counters_.probes_failed += thread.probe == ProbeResult::failed;
  counters_.interventions += thread.overdue;
  counters_.copies_cut += thread.copy_cut;
  for (const StackFrame& frame : stack.frames) {
    const bool real = frame.kind == FrameKind::native && frame.inline_depth == 0;
    if (real) ++counters_.calls[static_cast<std::size_t>(frame.call)];
  }
  for (const Run& run : stack.runs()) {
    switch (run.end) {
      case RunEnd::root: ++counters_.runs_root; break;
      case RunEnd::open:
        ++counters_.runs_open;
        ++counters_.open_by_reason[static_cast<std::size_t>(run.why)];
        break;
      case RunEnd::closed:
      case RunEnd::closed_rsp: ++counters_.runs_closed; break;
    }
  }
}

Counters CountersBuilder::finish(const BreakerState& breaker) {
  counters_.breaker = breaker;
  counters_.frozen = percentiles(frozen_ns_);
  counters_.stopping = percentiles(stopping_ns_);
  return counters_;
}

Counters count(const Snapshot& snapshot) {
  CountersBuilder builder;
  for (const Thread& thread : snapshot.threads) builder.add(thread);
  return builder.finish(snapshot.breaker);
}

}  // namespace mixwalk
