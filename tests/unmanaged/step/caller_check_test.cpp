#include "unmanaged/step/caller_check.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/builders/code_builder.h"
#include "tests/builders/unknown_outside_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kStackBytes = 0x8000;

// One image, which is a library in which threads begin, and a whole stack.
class CallerCheckTest : public testing::Test {
 protected:
  CallerCheckTest() {
    span_.base = kImage;
    span_.size = 0x1000;
    span_.starts_threads = true;
  }
  StepFault check(std::uint64_t rip, std::uint32_t rsp) {
    const ModuleView modules({&span_, 1});
    StackCopy copy(buffer_);
    copy.fill(stack_, kStack, kStack + kStackBytes);
    LeafStep leaf(modules, image_, copy, outside_);
    Cursor caller{.kind = AddressKind::return_address};
    caller.registers.rip = rip;
    caller.registers[Register::rsp] = kStack + rsp;
    return check_caller({caller, rip != 0 ? &span_ : nullptr, &span_}, copy, leaf, image_);
  }
  // A CONTEXT with which a thread begins: of user code, with that Rsp.
  void put_context(std::uint32_t at, std::uint32_t rsp) {
    stack_.put32(at + 0x30, 0x10'000B);
    stack_.put32(at + 0x38, 0x33);
    stack_.put64(at + 0x98, kStack + rsp);
    stack_.put64(at + 0xF8, kImage + 0x200);
  }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, kStackBytes};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kStackBytes + 16);
  UnknownOutsideMemory outside_;
  ModuleSpan span_;
};

TEST_F(CallerCheckTest, RootNearTheStacksBase) {
  EXPECT_EQ(check(0, kStackBytes - 0xFF8), StepFault::none);
  EXPECT_EQ(check(0, kStackBytes - 0x1000), StepFault::ended_early);
}

// As on a processor whose state has 11 KiB.
TEST_F(CallerCheckTest, RootBelowTheContextWithWhichTheThreadBegins) {
  const std::uint32_t rsp = kStackBytes - 0x3000;
  EXPECT_EQ(check(0, rsp), StepFault::ended_early);
  put_context(rsp + 0x60, kStackBytes - 0x30);
  EXPECT_EQ(check(0, rsp), StepFault::none);
  EXPECT_EQ(check(0, rsp + 0x70), StepFault::ended_early) << "the context is not above it";
  EXPECT_EQ(check(0, rsp - 0x800), StepFault::ended_early) << "the context is too far away";
}

TEST_F(CallerCheckTest, AContextOfAnotherPlaceOfTheStackMakesNoRoot) {
  const std::uint32_t rsp = kStackBytes - 0x3000;
  put_context(rsp + 0x60, kStackBytes - 0x2000);
  EXPECT_EQ(check(0, rsp), StepFault::ended_early);
}

TEST_F(CallerCheckTest, ReturnAddressThatLeadsToOnHijackTripThread) {
  image_.put(0x40, {0x48, 0x8B, 0xD4, 0x50, 0x52, 0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x41, 0x54, 0x55, 0x53, 0x56,
                    0x57});
  EXPECT_EQ(check(kImage + 0x40, 0x100), StepFault::return_replaced);
  EXPECT_EQ(check(kImage + 0x42, 0x100), StepFault::none);
  image_.put(0x50, {0x50});  // the last push is of another register
  EXPECT_EQ(check(kImage + 0x40, 0x100), StepFault::none);
}

TEST_F(CallerCheckTest, ReturnAddressThatLeadsToTheSystemsTrap) {
  EXPECT_EQ(check(kImage + 0x80, 0x100), StepFault::none);
  span_.return_trap = 0x80;
  EXPECT_EQ(check(kImage + 0x80, 0x100), StepFault::return_replaced);
  EXPECT_EQ(check(kImage + 0x81, 0x100), StepFault::none);
}

}  // namespace
}  // namespace mixwalk
