#include "walker/target/first_fault.h"

#include <gtest/gtest.h>

#include "tests/builders/dump_samples.h"
#include "tests/builders/pieced_memory.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

using test::DispatchedFault;
using test::PiecedMemory;

constexpr std::uint64_t kStack = 0x20'0000, kStackBytes = 0x2000, kFault = test::kInApp;

class FirstFaultTest : public ::testing::Test {
 protected:
  void put(std::uint64_t at, DispatchedFault fault) {
    if (fault.rsp == 0) fault.rsp = kStack + 0x1800;
    const auto bytes = fault.bytes();
    std::ranges::copy(bytes, stack_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::optional<MinidumpException> found() const {
    PiecedMemory memory;
    memory.put(stack_at_, stack_);
    std::vector<std::byte> buffer(kStackBytes + 16);
    StackCopy copy(buffer);
    copy.fill(memory, stack_at_, stack_at_ + std::min(kStackBytes, ~stack_at_));
    return first_fault(again_, copy, frames_);
  }

  std::uint64_t stack_at_ = kStack;
  std::vector<std::byte> stack_ = std::vector<std::byte>(kStackBytes);
  // As the runtime raises it: an address of its own, and no parameters.
  std::vector<std::uint64_t> frames_;
  MinidumpException again_{.thread = 7, .code = exception_code::kAccessViolation, .address = 0x5000, .registers = {}};
};

TEST_F(FirstFaultTest, HasItsPlaceAndItsParameters) {
  put(0x100, {});
  const auto fault = found();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->thread, 7u);
  EXPECT_EQ(fault->address, kFault);
  EXPECT_EQ(fault->registers->rip, kFault);
  EXPECT_EQ(fault->registers->rsp(), kStack + 0x1800);
  EXPECT_EQ(fault->parameter_count, 2u);
  EXPECT_EQ(fault->parameters[1], 0x40u);
}

TEST_F(FirstFaultTest, TheOneThatIsHandledIsTheLast) {
  put(0x100, {.parameters = {0, 0x80}});
  put(0xC00, {});
  EXPECT_EQ(found()->parameters[1], 0x80u);
  again_.parameters = {1, 0x40};
  again_.parameter_count = 2;
  EXPECT_EQ(found()->parameters[1], 0x40u) << "raised anew with its parameters";
  again_.parameters[1] = 0x41;
  EXPECT_FALSE(found());
}

TEST_F(FirstFaultTest, TheOneWhoseDispatcherHasNoFrameWasHandled) {
  put(0x100, {.parameters = {0, 0x80}});
  put(0xC00, {});
  frames_ = {kStack, kStack + 0x40};
  EXPECT_EQ(found()->parameters[1], 0x80u) << "the frames there are not known";
  frames_.push_back(kStack + 0xC00);
  EXPECT_EQ(found()->parameters[1], 0x40u);
  frames_.back() = kStack + 0x1800;
  EXPECT_FALSE(found());
}

TEST_F(FirstFaultTest, OtherBytesOnTheStackAreNoFault) {
  EXPECT_FALSE(found());
  put(0x100, {.code = exception_code::kIntegerDivision});
  EXPECT_FALSE(found());
  put(0x100, {.rip = kFault + 1});
  EXPECT_FALSE(found()) << "the record is of another place than the registers";
  put(0x100, {.rsp = kStack + 0x80});
  EXPECT_FALSE(found()) << "the interrupted code is above";
  put(0x100, {.rsp = kStack - 0x80});
  EXPECT_FALSE(found()) << "another stack";
  put(0x100, {.parameters = std::vector<std::uint64_t>(16)});
  EXPECT_FALSE(found());
  put(0x108, {});
  EXPECT_FALSE(found()) << "not aligned";
}

// Without its check, the search goes on at address 0 and never ends.
TEST_F(FirstFaultTest, StackThatEndsAtTheLastAddressHasNone) {
  stack_at_ = ~std::uint64_t{0} - 8;
  EXPECT_FALSE(found());
}

TEST(IsRaisedAnew, IfTheRegistersAreOfAnotherPlaceOrAtACall) {
  MinidumpException exception{.code = exception_code::kAccessViolation, .address = 0x5000, .registers = Registers{}};
  exception.registers->rip = 0x5000;
  EXPECT_FALSE(is_raised_anew(exception, 0));
  EXPECT_FALSE(is_raised_anew(exception, 0x5001));
  EXPECT_TRUE(is_raised_anew(exception, 0x4FB0)) << "in RaiseException";
  exception.registers->rip = 0x5001;
  EXPECT_TRUE(is_raised_anew(exception, 0));
  exception.code = exception_code::kManaged;
  EXPECT_FALSE(is_raised_anew(exception, 0)) << "never a fault";
  exception.code = exception_code::kAccessViolation;
  exception.registers.reset();
  EXPECT_FALSE(is_raised_anew(exception, 0));
}

}  // namespace
}  // namespace mixwalk
