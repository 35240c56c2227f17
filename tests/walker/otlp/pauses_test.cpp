#include "walker/otlp/pauses.h"

#include <gtest/gtest.h>

#include <thread>

namespace mixwalk {
namespace {

using namespace std::chrono_literals;

TEST(Patience, HasNoEndUntilOneIsWanted) {
  Patience patience;
  EXPECT_TRUE(patience.wait(1ms));
  patience.end_within(10s);
  EXPECT_TRUE(patience.wait(1ms));
  EXPECT_FALSE(patience.wait(1h));
}

TEST(Patience, EndsAWaitThatTakesTooLong) {
  Patience patience;
  std::thread leaves([&] {
    std::this_thread::sleep_for(20ms);
    patience.end_within(1s);
  });
  EXPECT_FALSE(patience.wait(1h));
  leaves.join();
}

TEST(Patience, LetsAShortWaitComeToItsEnd) {
  Patience patience;
  std::thread leaves([&] { patience.end_within(10s); });
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(patience.wait(50ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 50ms);
  leaves.join();
}

TEST(Patience, BeginsAnewAfterASuccess) {
  Patience patience;
  // Half a second of slack is allowed, because a busy machine comes back late from a wait.
  patience.end_within(2s);
  EXPECT_TRUE(patience.wait(1500ms));
  EXPECT_FALSE(patience.wait(1500ms));
  patience.succeeded();
  EXPECT_TRUE(patience.wait(1500ms));
}

}  // namespace
}  // namespace mixwalk
