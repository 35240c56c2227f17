#include "walker/suspended/watched_time.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kGap = 40;

TEST(WatchedTime, BeginsAtTheFirstLook) {
  WatchedTime time(kGap);
  EXPECT_EQ(time.look(1'000), 0u);
  EXPECT_EQ(time.look(1'020), 20u);
  EXPECT_EQ(time.look(1'060), 60u);
  EXPECT_EQ(time.watched(), 60u);
}

TEST(WatchedTime, AStandstillCountsForOneGap) {
  WatchedTime time(kGap);
  time.look(1'000);
  EXPECT_EQ(time.look(100'000), kGap);
  EXPECT_EQ(time.look(100'010), kGap + 10);
}

TEST(WatchedTime, AClockThatGoesBackCountsForNothing) {
  WatchedTime time(kGap);
  time.look(1'000);
  EXPECT_EQ(time.look(900), 0u);
  EXPECT_EQ(time.look(910), 10u);
}

}  // namespace
}  // namespace mixwalk
