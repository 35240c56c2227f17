#include "walker/suspended/circuit_breaker.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(CircuitBreaker, OneOverdueWalkIsBadLuck) {
  CircuitBreaker breaker;
  breaker.overdue(7);
  EXPECT_TRUE(breaker.allows(7));
  EXPECT_EQ(breaker.state(), BreakerState{});
}

TEST(CircuitBreaker, TurnsAThreadOffAndNoOther) {
  CircuitBreaker breaker;
  for (std::uint32_t i = 0; i < CircuitBreaker::kThreadLimit; ++i) breaker.overdue(7);
  EXPECT_FALSE(breaker.allows(7));
  EXPECT_TRUE(breaker.allows(8));
  EXPECT_EQ(breaker.state(), (BreakerState{1, false}));
}

TEST(CircuitBreaker, TurnsTheProcessOffAfterManyOfAnyThread) {
  CircuitBreaker breaker;
  for (std::uint32_t id = 1; id < CircuitBreaker::kProcessLimit; ++id) breaker.overdue(id);
  EXPECT_TRUE(breaker.allows(1));
  breaker.overdue(99);
  EXPECT_FALSE(breaker.allows(1));
  EXPECT_FALSE(breaker.allows(1000));
  EXPECT_EQ(breaker.state(), (BreakerState{0, true}));
}

}  // namespace
}  // namespace mixwalk
