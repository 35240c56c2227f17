#include "unmanaged/step/unwind_info.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr FunctionEntry kEntry{0x100, 0x180, 0x900};

// Tests one UNWIND_INFO. Rsp is at 0x100 of a stack, and every slot of the stack contains its own offset.
class UnwindInfoTest : public testing::Test {
 protected:
  UnwindInfoTest() {
    for (std::uint32_t at = 0; at < 0x2'0000; at += 8) stack_.put64(at, at);
    registers_[Register::rsp] = kStack + 0x100;
  }
  UnwoundPrologue undo(std::initializer_list<int> info, std::uint32_t offset = 0x40) {
    image_.put(kEntry.unwind, info);
    return unwind_prologue({image_, stack_, kImage}, kEntry, offset, registers_);
  }
  bool machine_frame_at(std::uint32_t offset) {
    return check_unwind({image_, stack_, kImage}, kEntry, offset).machine_frame;
  }
  std::uint64_t rsp() const { return registers_.rsp() - kStack; }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x2'0000};
  Registers registers_;
};

TEST_F(UnwindInfoTest, AllocationsOfEverySize) {
  EXPECT_EQ(undo({0x01, 4, 1, 0, 4, 0x02}).fault, StepFault::none);
  EXPECT_EQ(rsp(), 0x108u) << "the smallest";
  EXPECT_EQ(undo({0x01, 4, 1, 0, 4, 0xF2}).fault, StepFault::none);
  EXPECT_EQ(rsp(), 0x188u) << "the largest small one";
  EXPECT_EQ(undo({0x01, 7, 2, 0, 7, 0x01, 0x11, 0x00}).fault, StepFault::none);
  EXPECT_EQ(rsp(), 0x210u) << "in units of 8";
  EXPECT_EQ(undo({0x01, 7, 3, 0, 7, 0x11, 0xF0, 0x03, 0x01, 0x00}).fault, StepFault::none);
  EXPECT_EQ(rsp(), 0x1'0600u) << "in bytes";
}

TEST_F(UnwindInfoTest, SavedXmmRegistersAreStoodOver) {
  EXPECT_EQ(undo({0x01, 20, 7, 0, 20, 0x79, 0x00, 0x30, 0x00, 0x00,  // save_xmm128_far xmm7
                  15, 0x68, 0x02, 0x00,                              // save_xmm128 xmm6
                  6, 0x32,                                           // alloc_small 0x20
                  2, 0x70})
                .fault,  // push rdi
            StepFault::none);
  EXPECT_EQ(registers_[Register::rdi], 0x120u);
  EXPECT_EQ(rsp(), 0x128u);
}

TEST_F(UnwindInfoTest, SavedRegistersLieFromTheFrameRegisterOnceItIsSet) {
  // The codes are: lea rbp, [rsp+0x20] (10); sub rsp, 0x30 (5); rbx saved at 0x18 of the frame.
  const std::initializer_list<int> info = {0x01, 14, 4, 0x25, 14, 0x34, 3, 0, 10, 0x03, 5, 0x52};
  registers_[Register::rbp] = kStack + 0x520;
  EXPECT_EQ(undo(info).fault, StepFault::none);
  EXPECT_EQ(registers_[Register::rbx], 0x518u);
  EXPECT_EQ(rsp(), 0x530u);
}

TEST_F(UnwindInfoTest, FrameRegisterBeforeItIsSet) {
  registers_[Register::rbp] = 0x1234;  // still the caller's
  // The instruction lea rbp (14) has not run, mov [rsp+0x18], rbx (10) has.
  EXPECT_EQ(undo({0x01, 14, 4, 0x25, 14, 0x03, 10, 0x34, 3, 0, 5, 0x52}, 10).fault,
            StepFault::none);
  EXPECT_EQ(registers_[Register::rbx], 0x118u);
  EXPECT_EQ(rsp(), 0x130u);
  EXPECT_EQ(registers_[Register::rbp], 0x1234u);
}

TEST_F(UnwindInfoTest, TrapWithAndWithoutAnErrorCode) {
  stack_.put64(0x118, kStack + 0x300);
  stack_.put64(0x120, kStack + 0x400);
  const UnwoundPrologue plain = undo({0x01, 0, 1, 0, 0, 0x0A});
  EXPECT_TRUE(plain.machine_frame);
  EXPECT_EQ(registers_.rip, 0x100u);
  EXPECT_EQ(rsp(), 0x300u);
  registers_[Register::rsp] = kStack + 0x100;
  EXPECT_TRUE(undo({0x01, 0, 1, 0, 0, 0x1A}).machine_frame);
  EXPECT_EQ(registers_.rip, 0x108u);
  EXPECT_EQ(rsp(), 0x400u);
}

TEST_F(UnwindInfoTest, MachineFrameIsACodeNotAnOperand) {
  image_.put(kEntry.unwind, {0x01, 7, 2, 0, 7, 0x01, 0x01, 0x0A});  // alloc_large 0x5008
  EXPECT_FALSE(machine_frame_at(0x40));
  image_.put(kEntry.unwind, {0x01, 7, 2, 0, 7, 0x32, 2, 0x0A});
  EXPECT_TRUE(machine_frame_at(0x40));
  EXPECT_FALSE(machine_frame_at(1)) << "not pushed yet";
}

TEST_F(UnwindInfoTest, CodesBehindTheSlotsAreNotRead) {
  // Three slots are needed, and exist, but the count is two.
  EXPECT_EQ(undo({0x01, 7, 2, 0, 7, 0x11, 0xF0, 0x03, 0x01, 0x00}).fault, StepFault::bad_unwind);
  EXPECT_EQ(undo({0x01, 7, 3, 0, 7, 0x21, 0, 0, 0, 0}).fault, StepFault::bad_unwind)
      << "alloc_large 2";
}

TEST_F(UnwindInfoTest, EpilogueCodesBelongToVersionTwo) {
  EXPECT_EQ(undo({0x01, 4, 3, 0, 1, 0x16, 5, 0x06, 4, 0x42}).fault, StepFault::bad_unwind);
  EXPECT_EQ(undo({0x02, 4, 3, 0, 1, 0x16, 5, 0x06, 4, 0x42}).fault, StepFault::none);
  EXPECT_EQ(rsp(), 0x128u);
}

TEST_F(UnwindInfoTest, OtherVersionsAreNotDecoded) {
  const auto summary = [&] { return summarise_unwind({image_, stack_, kImage}, kEntry).fault; };
  EXPECT_EQ(undo({0x03, 4, 1, 0, 4, 0x42}).fault, StepFault::unwind_version_3);
  EXPECT_EQ(summary(), StepFault::unwind_version_3);
  EXPECT_EQ(undo({0x04, 4, 1, 0, 4, 0x42}).fault, StepFault::bad_unwind);
  EXPECT_EQ(summary(), StepFault::bad_unwind);
}

TEST_F(UnwindInfoTest, ChainBehindAnOddNumberOfSlots) {
  image_.put_entry(kEntry.unwind + 8, 0x40, 0x60, 0x980);
  image_.put(0x980, {0x01, 4, 1, 0, 4, 0x42});
  EXPECT_EQ(undo({0x21, 2, 1, 0, 2, 0x70, 0xEE, 0xEE}).fault, StepFault::none);
  EXPECT_EQ(registers_[Register::rdi], 0x100u);
  EXPECT_EQ(rsp(), 0x130u);
}

TEST_F(UnwindInfoTest, CheckFollowsTheWholeChain) {
  const auto check = [&] { return check_unwind({image_, stack_, kImage}, kEntry, 0x40); };
  image_.put(kEntry.unwind, {0x21, 2, 1, 0, 2, 0x70, 0xEE, 0xEE});
  image_.put_entry(kEntry.unwind + 8, 0x40, 0x60, 0x980);
  image_.put(0x980, {0x01, 4, 1, 0, 4, 0x42});
  EXPECT_EQ(check().fault, StepFault::none);
  EXPECT_EQ(check().function_begin, 0x40u);
  EXPECT_FALSE(check().machine_frame);
  image_.put(0x980, {0x01, 4, 1, 0, 4, 0x0A});
  EXPECT_TRUE(check().machine_frame) << "the function was entered through its first part";
  image_.put(0x980, {0x01, 4, 1, 0, 4, 0x01});
  EXPECT_EQ(check().fault, StepFault::bad_unwind) << "codes that do not fit";
  image_.put_entry(kEntry.unwind + 8, 0x40, 0x60, kEntry.unwind);
  EXPECT_EQ(check().fault, StepFault::bad_unwind) << "a chain that leads to itself";
  image_.put_entry(kEntry.unwind + 8, 0x40, 0x60, 0x0FFF'0000);
  EXPECT_EQ(check().fault, StepFault::unreadable_unwind);
}

TEST_F(UnwindInfoTest, PartsOfAFunctionAreNotCallable) {
  const auto callable = [&](std::initializer_list<int> info) {
    image_.put(kEntry.unwind, info);
    return summarise_unwind({image_, stack_, kImage}, kEntry).callable;
  };
  EXPECT_TRUE(callable({0x01, 4, 1, 0, 4, 0x42}));
  EXPECT_TRUE(callable({0x01, 0, 0, 0})) << "no frame at all";
  EXPECT_FALSE(callable({0x21, 4, 1, 0, 4, 0x42})) << "chained";
  EXPECT_FALSE(callable({0x01, 0, 1, 0, 0, 0x42})) << "a frame from its first byte on";
}

}  // namespace
}  // namespace mixwalk
