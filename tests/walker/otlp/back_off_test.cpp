#include "walker/otlp/back_off.h"

#include <gtest/gtest.h>

#include <vector>

namespace mixwalk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BackOff, GrowsTwofoldUpToItsLimit) {
  BackOff back_off(1);
  for (const milliseconds due : {milliseconds(1000), milliseconds(2000), milliseconds(4000),
                                 milliseconds(8000), milliseconds(10'000), milliseconds(10'000)}) {
    const milliseconds wait = back_off.next(std::nullopt);
    EXPECT_GE(wait, due / 2);
    EXPECT_LE(wait, due);
  }
  back_off.reset();
  EXPECT_LE(back_off.next(std::nullopt), BackOff::kFirst);
}

TEST(BackOff, IsNoShorterThanTheCollectorAsks) {
  BackOff back_off(1);
  EXPECT_EQ(back_off.next(seconds(7)), seconds(7));
  EXPECT_GE(back_off.next(seconds(0)), milliseconds(1000)) << "the second one";
}

TEST(BackOff, TwoSendersAreNotInStep) {
  std::vector<milliseconds> waits;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) waits.push_back(BackOff(seed).next({}));
  EXPECT_NE(std::ranges::min(waits), std::ranges::max(waits));
}

}  // namespace
}  // namespace mixwalk
