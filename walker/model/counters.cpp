#include "walker/model/counters.h"

#include <algorithm>

namespace mixwalk {

void CountersBuilder::add(const Thread& thread) {
  if (!thread.skipped.empty()) {
    ++counters_.skipped;
    return;
  }
  ++counters_.samples;
  frozen_ns_.push_back(thread.frozen_ns);
  counters_.whole += thread.stack.whole();
  const Stack& stack = thread.stack;
  if (stack.refusal != 0) ++counters_.refusals[stack.refusal];
  counters_.fallbacks += stack.refusal != 0 || thread.probe == ProbeResult::failed ||
                         thread.walk_off;
  counters_.probes_run += thread.probe != ProbeResult::none;
  counters_.probes_failed += thread.probe == ProbeResult::failed;
  counters_.interventions += thread.overdue;
  counters_.copies_cut += thread.copy_cut;
  for (const Run& run : stack.runs) {
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
  if (!frozen_ns_.empty()) {
    std::sort(frozen_ns_.begin(), frozen_ns_.end());
    // Nearest rank: the smallest value that so many percent of all do not exceed.
    const auto rank = [this](std::size_t percent) {
      return frozen_ns_[(frozen_ns_.size() * percent + 99) / 100 - 1];
    };
    counters_.frozen_p50_ns = rank(50);
    counters_.frozen_p99_ns = rank(99);
    counters_.frozen_max_ns = frozen_ns_.back();
  }
  return counters_;
}

Counters count(const Snapshot& snapshot) {
  CountersBuilder builder;
  for (const Thread& thread : snapshot.threads) builder.add(thread);
  return builder.finish(snapshot.breaker);
}

}  // namespace mixwalk
