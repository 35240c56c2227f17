#include "walker/profiler/group_size.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(GroupSize, GrowsWhileAllAreCopiedInTime) {
  GroupSize size;
  EXPECT_EQ(size.threads(), GroupSize::kFirst);
  size.took(16, 0);
  EXPECT_EQ(size.threads(), 20u);
  for (int i = 0; i < 20; ++i) size.took(size.threads(), 0);
  EXPECT_EQ(size.threads(), GroupSize::kMax);
}

TEST(GroupSize, ASmallerGroupSaysNothingOfALargerOne) {
  GroupSize size;
  size.took(3, 0);
  EXPECT_EQ(size.threads(), GroupSize::kFirst);
}

TEST(GroupSize, TheNextOneIsAsLargeAsCouldBeCopied) {
  GroupSize size;
  size.took(16, 5);
  EXPECT_EQ(size.threads(), 11u);
  size.took(11, 0);
  EXPECT_EQ(size.threads(), 13u);
}

TEST(GroupSize, NeverSoSmallThatItIsNoGroup) {
  GroupSize size;
  size.took(16, 16);
  EXPECT_EQ(size.threads(), GroupSize::kMin);
  size.took(1, 2);
  EXPECT_EQ(size.threads(), GroupSize::kMin);
  size.took(4, 0);
  EXPECT_EQ(size.threads(), 5u);
}

}  // namespace
}  // namespace mixwalk
