#include "walker/profiler/circuit_breaker.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

constexpr std::uint64_t kNow = 1'000'000;

TEST(CircuitBreaker, OneOverdueWalkIsBadLuck) {
  CircuitBreaker breaker;
  breaker.overdue(7, kNow);
  EXPECT_TRUE(breaker.allows(7, kNow));
  EXPECT_EQ(breaker.state(kNow), BreakerState{});
}

TEST(CircuitBreaker, SoAreTwoWithALongTimeBetweenThem) {
  CircuitBreaker breaker;
  breaker.overdue(7, kNow);
  breaker.overdue(7, kNow + CircuitBreaker::kMemoryMs + 1);
  EXPECT_TRUE(breaker.allows(7, kNow + CircuitBreaker::kMemoryMs + 1));
}

TEST(CircuitBreaker, TurnsAThreadOffAndNoOther) {
  CircuitBreaker breaker;
  for (std::uint32_t i = 0; i < CircuitBreaker::kThreadLimit; ++i) breaker.overdue(7, kNow + i);
  EXPECT_FALSE(breaker.allows(7, kNow + 2));
  EXPECT_TRUE(breaker.allows(8, kNow + 2));
  EXPECT_EQ(breaker.state(kNow + 2), (BreakerState{1, false}));
}

TEST(CircuitBreaker, TriesAgainAfterAWhile) {
  CircuitBreaker breaker;
  breaker.overdue(7, kNow);
  breaker.overdue(7, kNow);
  EXPECT_FALSE(breaker.allows(7, kNow + CircuitBreaker::kOffMs - 1));
  EXPECT_TRUE(breaker.allows(7, kNow + CircuitBreaker::kOffMs));
  EXPECT_EQ(breaker.state(kNow + CircuitBreaker::kOffMs), BreakerState{});
}

TEST(CircuitBreaker, TurnsTheProcessOffAfterManyOfAnyThread) {
  CircuitBreaker breaker;
  for (std::uint32_t id = 1; id < CircuitBreaker::kProcessLimit; ++id) breaker.overdue(id, kNow);
  EXPECT_TRUE(breaker.allows(1, kNow));
  breaker.overdue(99, kNow);
  EXPECT_FALSE(breaker.allows(1, kNow));
  EXPECT_FALSE(breaker.allows(1000, kNow));
  EXPECT_EQ(breaker.state(kNow), (BreakerState{0, true}));
}

}  // namespace
}  // namespace mixwalk
