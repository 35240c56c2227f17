#include "walker/profiler/unload_gate.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/win/coarse_clock.h"
#include "walker/base/win/tick_clock.h"

namespace mixwalk {
namespace {

constexpr clr::ModuleID kModule = 0x1000;
constexpr clr::FunctionID kMethod = 0x2000, kOther = 0x2100;
constexpr std::uint64_t kCode = 0x7000'0000, kBytes = 0x40;

class UnloadGateTest : public testing::Test {
 protected:
  // Whether a stack that was taken before notices the present unload.
  bool hits(const Footprint& stack) { return gate_->hits(stack, since_); }

  std::unique_ptr<UnloadGate> gate_ = std::make_unique<UnloadGate>();
  UnloadGate::Mark since_ = gate_->mark();
  // The footprint of one dynamic method.
  const Footprint stack_{
      .functions = {kMethod}, .modules = {}, .code = {kCode + 0x10}, .unknown_code = false};
};

TEST_F(UnloadGateTest, NothingWent) { EXPECT_FALSE(hits(stack_)); }

TEST_F(UnloadGateTest, ItsMethodWent) {
  gate_->method_unloading(kMethod, kCode, kBytes);
  EXPECT_TRUE(hits(stack_));
}

TEST_F(UnloadGateTest, CodeWentFromWhereItStands) {
  gate_->method_unloading(kOther, kCode, kBytes);
  EXPECT_TRUE(hits(stack_));
}

TEST_F(UnloadGateTest, AReturnAddressMayBeTheEndOfTheCode) {
  gate_->method_unloading(kOther, kCode + 0x10 - kBytes, kBytes);
  EXPECT_TRUE(hits(stack_));
}

TEST_F(UnloadGateTest, AnotherMethodWent) {
  gate_->method_unloading(kOther, kCode + 0x1000, kBytes);
  EXPECT_FALSE(hits(stack_));
}

// A method that was never compiled has been on no stack.
TEST_F(UnloadGateTest, AMethodWithoutCodeWent) {
  gate_->method_unloading(kOther, 0, 0);
  EXPECT_FALSE(hits(stack_));
  gate_->method_unloading(kMethod, 0, 0);
  EXPECT_TRUE(hits(stack_));
}

// A call through a null pointer is also a frame outside every image.
TEST_F(UnloadGateTest, AMethodWithoutCodeIsNotAtZero) {
  gate_->method_unloading(kOther, 0, 0);
  EXPECT_FALSE(hits({.functions = {}, .modules = {}, .code = {0}, .unknown_code = true}));
}

TEST_F(UnloadGateTest, AMethodWentAndNobodyKnowsFromWhere) {
  gate_->method_unloading(kOther, 0, UnloadGate::kAnywhere);
  EXPECT_TRUE(hits(stack_));
  EXPECT_FALSE(hits({.functions = {}, .modules = {kModule}, .code = {}, .unknown_code = false}));
}

TEST_F(UnloadGateTest, ItsModuleWent) {
  const Footprint of_module{
      .functions = {}, .modules = {kModule}, .code = {}, .unknown_code = false};
  gate_->module_unloading(kModule + 8);
  EXPECT_FALSE(hits(of_module));
  gate_->module_unloading(kModule);
  EXPECT_TRUE(hits(of_module));
  EXPECT_FALSE(hits(stack_));
}

TEST_F(UnloadGateTest, MoreWentThanIsRemembered) {
  for (int i = 0; i < 5000; ++i) gate_->method_unloading(kOther, kCode + 0x1000, kBytes);
  EXPECT_TRUE(hits(stack_));
  EXPECT_FALSE(hits({.functions = {}, .modules = {kModule}, .code = {}, .unknown_code = false}));
}

// A question is not answered in time. The limit is one of milliseconds, not of the system's ticks. A busy machine may
// delay any of the waits (seen: 39 of 40), so this goes on until ten have ended in time.
TEST_F(UnloadGateTest, AMethodWaitsForMillisecondsWhereTheClockTicks) {
  const CoarseClock coarse;
  const TickClock clock;
  const UnloadGate::Question question(*gate_, since_, kOther);
  constexpr int kInTime = 10, kMostWaits = 1000;
  int in_time = 0;
  for (int i = 0; i < kMostWaits && in_time < kInTime; ++i) {
    CoarseClock::wait_for_tick();
    const std::uint64_t begun = clock.now_ns();
    gate_->method_unloading(kMethod, kCode, kBytes);
    const std::uint64_t waited = clock.now_ns() - begun;
    EXPECT_GE(waited, 5'000'000u);
    in_time += waited <= 8'000'000;
  }
  EXPECT_EQ(in_time, kInTime);
}

TEST_F(UnloadGateTest, NoQuestionAboutWhatWent) {
  EXPECT_TRUE(UnloadGate::Question(*gate_, since_));
  EXPECT_TRUE(UnloadGate::Question(*gate_, since_, kMethod));
  gate_->method_unloading(kMethod, kCode, kBytes);
  EXPECT_TRUE(UnloadGate::Question(*gate_, since_));
  EXPECT_FALSE(UnloadGate::Question(*gate_, since_, kMethod));
  EXPECT_TRUE(UnloadGate::Question(*gate_, since_, kOther));
  gate_->module_unloading(kModule);
  EXPECT_FALSE(UnloadGate::Question(*gate_, since_));
}

}  // namespace
}  // namespace mixwalk
