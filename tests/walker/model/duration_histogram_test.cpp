#include "walker/model/duration_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace mixwalk {
namespace {

TEST(DurationHistogram, OfNothingIsNothing) {
  const DurationHistogram none;
  EXPECT_EQ(none.percentile(99), 0u);
  EXPECT_EQ(none.max(), 0u);
}

TEST(DurationHistogram, SmallValuesAndTheEndsAreExact) {
  DurationHistogram histogram;
  for (const std::uint64_t ns : {0u, 1u, 15u, 16u, 31u}) histogram.add(ns);
  EXPECT_EQ(histogram.percentile(1), 0u);
  EXPECT_EQ(histogram.percentile(40), 1u);
  EXPECT_EQ(histogram.percentile(60), 15u);
  EXPECT_EQ(histogram.percentile(80), 16u);
  EXPECT_EQ(histogram.percentile(100), 31u);
  histogram.add(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(histogram.percentile(100), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(histogram.max(), std::numeric_limits<std::uint64_t>::max());
}

TEST(DurationHistogram, IsAtMostASixteenthTooLarge) {
  std::mt19937_64 random(4711);
  DurationHistogram histogram;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 10'000; ++i) {
    all.push_back(random() >> (random() % 64));
    histogram.add(all.back());
  }
  std::ranges::sort(all);
  for (const unsigned percent : {1u, 25u, 50u, 75u, 99u, 100u}) {
    const std::uint64_t exact = all[all.size() * percent / 100 - 1];
    EXPECT_GE(histogram.percentile(percent), exact) << percent;
    EXPECT_LE(histogram.percentile(percent) - exact, exact / 16) << percent;
  }
  EXPECT_EQ(histogram.max(), all.back());
}

}  // namespace
}  // namespace mixwalk
