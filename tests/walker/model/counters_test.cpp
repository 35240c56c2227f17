#include "walker/model/counters.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

Thread sampled(std::uint64_t frozen_ns) {
  Thread thread;
  thread.frozen_ns = frozen_ns;
  thread.stopping_ns = frozen_ns * 2;
  thread.stack.frames.push_back({});
  return thread;
}

TEST(Counters, NothingSampled) { EXPECT_EQ(count({}), Counters{}); }

TEST(Counters, PercentilesByNearestRank) {
  Snapshot snapshot;
  for (std::uint64_t i = 200; i != 0; --i) snapshot.threads.push_back(sampled(i * 1000));
  const Counters counters = count(snapshot);
  EXPECT_EQ(counters.samples, 200u);
  EXPECT_EQ(counters.frozen.p50_ns, 100'000u);
  EXPECT_EQ(counters.frozen.p99_ns, 198'000u);
  EXPECT_EQ(counters.frozen.max_ns, 200'000u);
  EXPECT_EQ(counters.stopping.p50_ns, 200'000u);
  EXPECT_EQ(counters.stopping.p99_ns, 396'000u);
  EXPECT_EQ(counters.stopping.max_ns, 400'000u);
  snapshot.threads.resize(1);
  EXPECT_EQ(count(snapshot).frozen.p50_ns, 200'000u);
  EXPECT_EQ(count(snapshot).frozen.p99_ns, 200'000u);
}

TEST(Counters, WholeStacksGuessedOnesAndOthers) {
  Snapshot snapshot;
  snapshot.threads.assign(6, sampled(1));
  snapshot.threads[0].stack.frames[0].trust = Trust::scan;
  snapshot.threads[1].stack.frames[0].trust = Trust::frame_pointer;
  // If frames are missing anyway, a guess changes nothing.
  snapshot.threads[2].stack.frames[0].trust = Trust::scan;
  snapshot.threads[2].stack.frames.push_back({{.kind = FrameKind::gap}});
  const Counters counters = count(snapshot);
  EXPECT_EQ(counters.whole, 3u);
  EXPECT_EQ(counters.guessed, 2u);
}

TEST(Counters, WhatEachSampleCost) {
  Snapshot snapshot;
  snapshot.breaker = {2, true};
  Thread refused = sampled(1);
  refused.stack.refusal = 0x80131360;
  Thread probed = sampled(1);
  probed.probe = ProbeResult::passed;
  Thread failed = sampled(1);
  failed.probe = ProbeResult::failed;
  Thread off = sampled(1);
  off.walk_off = true;
  Thread at_risk = sampled(1);
  at_risk.at_risk = true;
  Thread overdue = sampled(1);
  overdue.overdue = true;
  overdue.copy_cut = true;
  Thread ended;
  ended.skipped = "the thread is ending";
  snapshot.threads = {refused, probed, failed, off, at_risk, overdue, ended};
  const Counters counters = count(snapshot);
  EXPECT_EQ(counters.samples, 6u);
  EXPECT_EQ(counters.skipped, 1u);
  EXPECT_EQ(counters.whole, 6u);
  EXPECT_EQ(counters.fallbacks, 3u);
  EXPECT_EQ(counters.not_asked, 1u);
  EXPECT_EQ(counters.refusals.at(0x80131360), 1u);
  EXPECT_EQ(counters.probes_run, 2u);
  EXPECT_EQ(counters.probes_failed, 1u);
  EXPECT_EQ(counters.interventions, 1u);
  EXPECT_EQ(counters.copies_cut, 1u);
  EXPECT_EQ(counters.breaker, (BreakerState{2, true}));
}

TEST(Counters, RunsByTheirEnds) {
  Snapshot snapshot;
  Thread thread = sampled(1);
  const StackFrame managed{{.kind = FrameKind::managed}};
  const auto gap = [](OpenReason why) { return Frame{.kind = FrameKind::gap, .why = why}; };
  thread.stack.frames = {Frame{}, managed, Frame{}, managed, gap(OpenReason::no_unwind), managed,
                         gap(OpenReason::stack_cut)};
  snapshot.threads = {thread, sampled(1)};
  const Counters counters = count(snapshot);
  EXPECT_EQ(counters.runs_closed, 2u);
  EXPECT_EQ(counters.runs_root, 1u);
  EXPECT_EQ(counters.runs_open, 2u);
  EXPECT_EQ(counters.open_by_reason[static_cast<std::size_t>(OpenReason::no_unwind)], 1u);
  EXPECT_EQ(counters.open_by_reason[static_cast<std::size_t>(OpenReason::stack_cut)], 1u);
  EXPECT_EQ(counters.whole, 1u);
}

}  // namespace
}  // namespace mixwalk
