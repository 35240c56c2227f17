#include "walker/profiler/record_budget.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A target with `working` threads that have work. Each round of samples costs `cpu_ns` and suspends threads for
// `frozen_ns`. Returns the time that recording took in the last half of `seconds`, as a share of the time that the
// threads could work on two processors.
double share_taken(RecordBudget& budget, std::size_t working, std::uint64_t cpu_ns,
                   std::uint64_t frozen_ns, unsigned seconds = 60) {
  std::uint64_t now = 0, cpu = 0, rounds = 0;
  const std::uint64_t end = std::uint64_t{seconds} * 1'000 * kMs;
  budget.begin(0, 0);
  while (now < end) {
    now += budget.period_ns();
    cpu += cpu_ns;
    rounds += now > end / 2;
    for (std::size_t i = 0; i < working; ++i) budget.add_thread(frozen_ns / working);
    budget.end_round();
    if (budget.is_due(now)) budget.measure(now, cpu / (10 * kMs) * (10 * kMs));
  }
  const double width = working == 0 ? 1 : working > 2 ? 2 : static_cast<double>(working);
  const double each = static_cast<double>(cpu_ns) / 2 + static_cast<double>(frozen_ns) / width;
  return static_cast<double>(rounds) * each / (static_cast<double>(end) / 2);
}

TEST(RecordBudget, WhatCostsLittleIsTakenAsOftenAsWasAskedFor) {
  RecordBudget budget(0.05, 2, 10 * kMs);
  EXPECT_LT(share_taken(budget, 1, kMs / 10, kMs / 10), 0.03);
  EXPECT_EQ(budget.period_ns(), 10 * kMs);
  EXPECT_FALSE(budget.lengthened());
}

TEST(RecordBudget, WhatCostsMuchIsTakenMoreSeldom) {
  for (const double share : {0.05, 0.03, 0.01}) {
    for (const std::size_t working : {0, 1, 2, 20}) {
      RecordBudget budget(share, 2, kMs);
      const double taken = share_taken(budget, working, 4 * kMs, working == 0 ? 0 : 3 * kMs);
      EXPECT_LE(taken, share * 1.15) << working << " threads";
      EXPECT_GE(taken, share * 0.7) << "no more seldom than needed, " << working << " threads";
      EXPECT_TRUE(budget.lengthened());
    }
  }
}

// If twenty threads are suspended together for 1 ms, two processors lose this time, not twenty.
TEST(RecordBudget, ThreadsThatStandTogetherCostWhatTheProcessorsCouldHaveDone) {
  RecordBudget together(0.05, 2, kMs), one_by_one(0.05, 2, kMs);
  for (RecordBudget* budget : {&together, &one_by_one}) {
    budget->begin(0, 0);
    if (budget == &together) {
      budget->add_group(20, kMs);
    } else {
      for (int i = 0; i < 20; ++i) budget->add_thread(kMs);
    }
    budget->end_round();
    budget->measure(100 * kMs, 0);
  }
  EXPECT_EQ(together.period_ns(), 20 * kMs);      // 1 ms of each processor's time, 5 % of 20 ms
  EXPECT_EQ(one_by_one.period_ns(), 200 * kMs);
}

// A target with two processors has one thread, which is frozen in a group and once more alone.
TEST(RecordBudget, AThreadThatIsFrozenTwiceIsOneThread) {
  RecordBudget budget(0.05, 2, kMs);
  budget.begin(0, 0);
  budget.add_group(1, kMs);
  budget.add_again(kMs);
  budget.end_round();
  budget.measure(100 * kMs, 0);
  EXPECT_EQ(budget.period_ns(), 40 * kMs);
}

TEST(RecordBudget, TheFirstReadingComesSoon) {
  RecordBudget budget(0.05, 2, kMs);
  budget.begin(1'000 * kMs, 70 * kMs);
  budget.add_thread(kMs);
  budget.end_round();
  EXPECT_FALSE(budget.is_due(1'099 * kMs));
  EXPECT_TRUE(budget.is_due(1'100 * kMs));
}

TEST(RecordBudget, NoneIsNone) {
  RecordBudget budget(0, 2, kMs);
  budget.add_thread(1'000 * kMs);
  budget.end_round();
  EXPECT_FALSE(budget.is_due(1'000'000 * kMs));
  EXPECT_EQ(budget.period_ns(), kMs);
}

TEST(RecordBudget, HoweverDearThereIsASampleOnceInAWhile) {
  RecordBudget budget(0.01, 2, kMs);
  share_taken(budget, 1, 100'000 * kMs, 0, 600);
  EXPECT_EQ(budget.period_ns(), 10'000 * kMs);
  RecordBudget slow(0.01, 2, 60'000 * kMs);
  share_taken(slow, 1, 100'000 * kMs, 0, 600);
  EXPECT_EQ(slow.period_ns(), 60'000 * kMs) << "never more often than was asked for";
}

}  // namespace
}  // namespace mixwalk
