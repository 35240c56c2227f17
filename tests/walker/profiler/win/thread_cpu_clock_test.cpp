#include "walker/profiler/thread_cpu_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "tests/support/win/wine.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
const HANDLE kThread = reinterpret_cast<HANDLE>(std::uintptr_t{8});

// A system with one thread. Time passes only when the test says so.
class FakeCounters : public CpuCounters {
 public:
  bool cycles_are_steady() const noexcept override { return steady; }
  std::uint64_t cycles() const noexcept override {
    // The thread that asks loses its processor right before its next question.
    if (interruptions != 0 && ++questions % 2 == 0) {
      --interruptions;
      pass(30 * kMs);
    }
    return counted;
  }
  std::uint64_t now_ns() const noexcept override { return time; }
  std::uint64_t thread_cycles(HANDLE) const noexcept override { return of_thread; }
  std::uint64_t thread_ns(HANDLE) const noexcept override { return of_thread_ns; }

  void pass(std::uint64_t ns) const {
    time += ns;
    counted += static_cast<std::uint64_t>(static_cast<double>(ns) * per_ns);
  }
  // The thread runs all the time. GetThreadTimes does not see it.
  void run(std::uint64_t ns) {
    pass(ns);
    of_thread += static_cast<std::uint64_t>(static_cast<double>(ns) * per_ns);
  }

  double per_ns = 2.5;
  bool steady = true;
  std::uint64_t of_thread = 1'000'000, of_thread_ns = 0;
  mutable int interruptions = 0, questions = 0;
  mutable std::uint64_t time = 77 * kMs, counted = 1ull << 60;
};

TEST(ThreadCpuClock, AShortBurstCounts) {
  for (const double per_ns : {0.8, 1.9, 2.5, 5.7}) {
    FakeCounters counters;
    counters.per_ns = per_ns;
    ThreadCpuClock clock(counters);
    CpuMark mark = clock.mark(kThread);
    EXPECT_TRUE(clock.counts_cycles());
    counters.pass(99 * kMs);
    counters.run(kMs);
    EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 1.0 * kMs, 100) << per_ns << " GHz";
    EXPECT_EQ(clock.since(kThread, mark), 0u) << "it was counted already";
  }
}

TEST(ThreadCpuClock, WhatIsUsedBeforeACycleIsMeasuredIsCountedLater) {
  FakeCounters counters;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.run(kMs / 2);
  EXPECT_EQ(clock.since(kThread, mark), 0u);
  counters.run(kMs);
  EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 1.5 * kMs, 100);
}

// Wine gives 0 cycles for each thread.
TEST(ThreadCpuClock, WithoutCyclesOfThreadsTheirTimesCount) {
  FakeCounters counters;
  counters.of_thread = 0;
  ThreadCpuClock clock(counters);
  EXPECT_FALSE(clock.counts_cycles());
  CpuMark mark = clock.mark(kThread);
  counters.pass(20 * kMs);
  counters.of_thread_ns += 10 * kMs;
  EXPECT_EQ(clock.since(kThread, mark), 10 * kMs);
}

TEST(ThreadCpuClock, CyclesThatFollowTheSpeedOfTheProcessorDoNotCount) {
  FakeCounters counters;
  counters.steady = false;
  EXPECT_FALSE(ThreadCpuClock(counters).counts_cycles());
}

// As for a thread that cannot be asked at this moment.
TEST(ThreadCpuClock, ACounterOfAThreadThatGoesBackAddsNothing) {
  FakeCounters counters;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.pass(10 * kMs);
  const std::uint64_t before = std::exchange(counters.of_thread, 0);
  EXPECT_EQ(clock.since(kThread, mark), 0u);
  counters.of_thread = before;
  counters.run(2 * kMs);
  EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 2.0 * kMs, 100);
}

TEST(ThreadCpuClock, IfTheProcessorsCounterGoesBackTimesCountFromThen) {
  FakeCounters counters;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.time += 20 * kMs;
  counters.counted -= 50 * kMs;
  counters.of_thread_ns = 500 * kMs;
  EXPECT_EQ(clock.since(kThread, mark), 0u) << "the mark was in cycles";
  EXPECT_FALSE(clock.counts_cycles());
  counters.of_thread_ns += 10 * kMs;
  EXPECT_EQ(clock.since(kThread, mark), 10 * kMs);
}

TEST(ThreadCpuClock, AStandingCounterOfTheProcessorDoesNotCount) {
  FakeCounters counters;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.time += 20 * kMs;
  counters.of_thread += 1'000;
  EXPECT_EQ(clock.since(kThread, mark), 0u);
  EXPECT_FALSE(clock.counts_cycles());
}

// Between the readings of the two clocks another thread runs for 30 ms.
TEST(ThreadCpuClock, AnInterruptedMeasurementIsRepeated) {
  FakeCounters counters;
  counters.interruptions = 1;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.pass(10 * kMs);
  counters.run(5 * kMs);
  EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 5.0 * kMs, 1'000);
}

TEST(ThreadCpuClock, AMeasurementOfASecondIsKept) {
  FakeCounters counters;
  ThreadCpuClock clock(counters);
  CpuMark mark = clock.mark(kThread);
  counters.run(1'000 * kMs);
  EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 1'000.0 * kMs, 100);
  counters.time += 60'000 * kMs;  // the system's clock was set, or counts the time for which the machine slept
  counters.run(kMs);
  EXPECT_NEAR(static_cast<double>(clock.since(kThread, mark)), 1.0 * kMs, 100);
}

// The system's own counters. A thread that works for some time has used about this time.
TEST(ThreadCpuClock, OfThisThread) {
  const CpuCounters counters;
  ThreadCpuClock clock(counters);
  EXPECT_EQ(clock.counts_cycles(), !under_wine() && counters.cycles_are_steady());
  CpuMark mark = clock.mark(GetCurrentThread());
  const std::uint64_t begun = counters.now_ns(), used_before = counters.thread_ns(GetCurrentThread());
  std::uint64_t used = 0;
  // The test's clock has steps of 16 ms at most.
  while (used < 100 * kMs) {
    used += clock.since(GetCurrentThread(), mark);
    ASSERT_LT(counters.now_ns() - begun, 60'000 * kMs);
  }
  const std::uint64_t ticks = counters.thread_ns(GetCurrentThread()) - used_before;
  EXPECT_NEAR(static_cast<double>(used), static_cast<double>(ticks), 35.0 * kMs);
}

}  // namespace
}  // namespace mixwalk
