#include "unmanaged/step/dispatchers.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/builders/code_builder.h"
#include "tests/builders/unknown_outside_memory.h"
#include "unmanaged/step/table_unwind_step.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kMark = 0x108, kData = kMark + 40;
constexpr std::uint32_t kStub = 0x200, kReturns = 0x300;

// The stack of a callback of Wine 8 with 0xB6 bytes of data, and the stub of the system call in which it happened.
class CallbackTest : public testing::Test {
 protected:
  CallbackTest() {
    stack_.put64(kMark, 0xDEAD'BABE);
    stack_.put64(kMark + 16, kStack + kData);
    stack_.put64(kMark + 24, 0x1234'5678'0000'00B6);  // only the lower half is stored
    image_.put(kStub, {0x4C, 0x8B, 0xD1, 0xB8, 1, 0, 0, 0, 0xF6, 4, 0x25, 8, 3, 0xC3,  // shortened
                       0xFF, 0x14, 0x25, 0, 0x10, 0xFE, 0x7F, 0xC3});
    image_.put(kReturns - 5, {0xE8, 0, 0, 0, 0});
    image_.put32(kReturns - 4, kStub - kReturns);
    // Right above the data, and aligned as the data is.
    stack_.put64(kData + 0xB8, kImage + kReturns);
  }
  std::optional<Registers> caller() {
    StackCopy copy(buffer_);
    copy.fill(stack_, kStack, kStack + 0x1000);
    Registers found;
    found.rip = *copy.word(kStack + kMark);
    found[Register::rsp] = kStack + kMark + 8;
    found[Register::rbx] = 0xBBBB;
    return callback_caller(copy, image_, found);
  }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x1000};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(0x1010);
};

TEST_F(CallbackTest, LeadsToTheSystemCallInWhichItHappened) {
  const auto found = caller();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rip, kImage + kStub + 0x15);
  EXPECT_EQ(found->rsp(), kStack + kData + 0xB8);
  EXPECT_EQ((*found)[Register::rbx], 0xBBBBu);
}

TEST_F(CallbackTest, TheSystemCallMayHaveHadTheNextWord) {
  stack_.put64(kData + 0xB8, 0x77);
  stack_.put64(kData + 0xC0, kImage + kReturns);
  const auto found = caller();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rsp(), kStack + kData + 0xC0);
  // The data would lie 16 bytes higher.
  stack_.put64(kData + 0xC0, 0x77);
  stack_.put64(kData + 0xC8, kImage + kReturns);
  EXPECT_FALSE(caller());
}

TEST_F(CallbackTest, ThroughTheSlotAndTheThunkOfAnImport) {
  image_.put(kReturns - 6, {0xFF, 0x15, 0, 0, 0, 0});
  image_.put32(kReturns - 4, 0x400 - kReturns);
  image_.put64(0x400, kImage + kStub);
  EXPECT_TRUE(caller());
  image_.put(kReturns - 6, {0x90, 0xE8, 0, 0, 0, 0});
  image_.put32(kReturns - 4, 0x500 - kReturns);
  image_.put(0x500, {0xFF, 0x25});  // jmp [rip + …]
  image_.put32(0x502, 0x400 - 0x506);
  EXPECT_TRUE(caller());
}

TEST_F(CallbackTest, NothingElseIsTakenForOne) {
  stack_.put64(kMark, kImage + kReturns);
  EXPECT_FALSE(caller()) << "a return address";
  stack_.put64(kMark, 0xDEAD'BABE);
  stack_.put64(kMark + 16, kStack + kData + 8);
  EXPECT_FALSE(caller()) << "data of another place";
  stack_.put64(kMark + 16, kStack + kData);
  stack_.put64(kMark + 24, 0x10'0001);
  EXPECT_FALSE(caller()) << "too much data";
  stack_.put64(kMark + 24, 0xB6);
  EXPECT_TRUE(caller());
  image_.put(kStub + 0x10, {0x90});
  EXPECT_FALSE(caller()) << "the call leads to no system call";
}

// The bodies of the three dispatchers, as on Windows: registers in a CONTEXT at the bottom of the frame, what the
// kernel passes above it, then the processor's frame.
TEST(DispatchersTest, MachineFramesOfWindowsLeadToTheInterruptedInstruction) {
  for (const std::uint32_t below : {0x30u, 0x4D0u, 0x4F0u, 0x530u, 0x590u}) {
    SCOPED_TRACE(below);
    BuiltMemory image(kImage, 0x1000);
    BuiltMemory stack(kStack, 0x1000);
    const bool has_context = below > 0x400;
    image.put_entry(0x800, 0x100, 0x180, 0x900);
    if (has_context) {
      // save rbx at 0x90; save rbp at 0xA0; alloc_large; push_machframe
      image.put(0x900, {0x01, 0, 7, 0, 0, 0x34, 0x12, 0, 0, 0x54, 0x14, 0, 0, 0x01, static_cast<int>(below / 8 & 0xFF),
                        static_cast<int>(below / 8 >> 8), 0, 0x0A});
    } else {
      image.put(0x900, {0x01, 0, 2, 0, 0, 0x52, 0, 0x0A});  // alloc_small 0x30; push_machframe
    }
    stack.put64(0x100 + 0x90, 0xBBBB);
    stack.put64(0x100 + 0xA0, 0x5555);
    stack.put64(0x100 + below, 0x7777);
    stack.put64(0x100 + below + 24, kStack + 0xF00);
    ModuleSpan span;
    span.base = kImage;
    span.size = 0x1000;
    span.pdata_rva = 0x800;
    span.pdata_count = 1;
    const ModuleView modules({&span, 1});
    UnknownOutsideMemory outside;
    Cursor frame;
    frame.kind = AddressKind::return_address;
    frame.registers.rip = kImage + 0x123;
    frame.registers[Register::rsp] = kStack + 0x100;
    EXPECT_EQ(TableUnwindStep(modules, image, stack, outside).step(frame, LeafRule::forbidden).fault, StepFault::none);
    EXPECT_EQ(frame.registers.rip, 0x7777u);
    EXPECT_EQ(frame.registers.rsp(), kStack + 0xF00);
    EXPECT_EQ(frame.kind, AddressKind::instruction_pointer) << "a system call's stub is a leaf there";
    EXPECT_EQ(frame.registers[Register::rbx], has_context ? 0xBBBBu : 0u);
    EXPECT_EQ(frame.registers[Register::rbp], has_context ? 0x5555u : 0u);
  }
}

TEST(DispatchersTest, ExceptionsAndCallsOfProceduresInterrupt) {
  const Dispatchers known{.exception = 1, .apc = 2, .callback = 3};
  EXPECT_TRUE(known.interrupts(1));
  EXPECT_TRUE(known.interrupts(2));
  EXPECT_FALSE(known.interrupts(3));
  EXPECT_FALSE(Dispatchers().interrupts(0));
}

}  // namespace
}  // namespace mixwalk
