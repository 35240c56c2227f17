#include "walker/profiler/group_size.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(GroupSize, GrowsToWhatFitsIntoAPartOfTheDeadline) {
  GroupSize size(50 * kMs);
  EXPECT_EQ(size.threads(), GroupSize::kFirst);
  for (int i = 0; i < 10; ++i) size.took(size.threads(), size.threads() * kMs / 4);
  EXPECT_EQ(size.threads(), 50u);  // 12.5 ms, a quarter of a millisecond each
}

TEST(GroupSize, NeverMoreThanItsDouble) {
  GroupSize size(50 * kMs);
  size.took(GroupSize::kFirst, 1);
  EXPECT_EQ(size.threads(), 2 * GroupSize::kFirst);
}

TEST(GroupSize, AGroupThatTookTooLongMakesTheNextOneSmallerAtOnce) {
  GroupSize size(50 * kMs);
  size.took(8, 100 * kMs);
  EXPECT_EQ(size.threads(), 1u);
  size.took(1, kMs);
  EXPECT_EQ(size.threads(), 2u);
}

TEST(GroupSize, ASmallGroupSaysLittleOfALargeOne) {
  GroupSize size(50 * kMs);
  size.took(1, kMs / 10);
  EXPECT_EQ(size.threads(), GroupSize::kFirst);
  size.took(1, 12 * kMs);
  EXPECT_EQ(size.threads(), 1u) << "but one that took long says enough";
}

TEST(GroupSize, HasBounds) {
  GroupSize size(60'000 * kMs);
  for (int i = 0; i < 10; ++i) size.took(size.threads(), 0);
  EXPECT_EQ(size.threads(), GroupSize::kMost);
  size.took(0, 0);
  EXPECT_EQ(size.threads(), GroupSize::kMost);
}

}  // namespace
}  // namespace mixwalk
