#include "unmanaged/step/context_restore.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"
#include "unmanaged/step/table_unwind_step.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kContext = 0x400;  // on the stack
constexpr std::uint32_t kFunction = 0x100;
constexpr FunctionEntry kEntry{kFunction, kFunction + 0x40, 0x900};
// The places where its instructions begin.
constexpr std::uint32_t kBefore = kFunction + 4, kFirst = kFunction + 7, kBehindFirst = kFirst + 7,
                        kBehindRbp = kBehindFirst + 7, kLast = kBehindRbp + 2, kJump = kLast + 7;

// The routine in short: its frame is set up; mov r10, rcx; mov rbx, [r10 + 0x90]; mov rbp, [r10 + 0xa0]; push rax;
// popfq; mov rsp, [r10 + 0x98]; jmp rax.
class ContextRestoreTest : public testing::Test {
 protected:
  ContextRestoreTest() {
    image_.put(kEntry.unwind, {0x01, 4, 2, 0x05, 4, 0x03, 1, 0x50});  // set_fpreg rbp, push rbp
    image_.put(kFunction, {0x55, 0x48, 0x8B, 0xEC, 0x4C, 0x8B, 0xD1});
    image_.put(kFirst, {0x49, 0x8B, 0x9A, 0x90, 0, 0, 0});
    image_.put(kBehindFirst, {0x49, 0x8B, 0xAA, 0xA0, 0, 0, 0});
    image_.put(kBehindRbp, {0x50, 0x9D});
    image_.put(kLast, {0x49, 0x8B, 0xA2, 0x98, 0, 0, 0});
    image_.put(kJump, {0xFF, 0xE0, 0x5D, 0xC3});
    stack_.put32(kContext + 0x30, 0x10'000B);
    for (std::uint32_t i = 0; i < kGeneralRegisters; ++i) stack_.put64(kContext + 0x78 + i * 8, 0x1000 + i);
    stack_.put64(kContext + 0xF8, 0x7777);
  }
  std::optional<Registers> at(std::uint32_t rva) {
    registers_.rip = kImage + rva;
    registers_[Register::rsp] = kStack + 0x100;
    const UnwindMemory memory{image_, stack_, kImage};
    return restored_registers(memory, kEntry, summarise_unwind(memory, kEntry).frame_register, registers_);
  }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x1000};
  Registers registers_ = [] {
    Registers registers;
    registers[Register::r10] = kStack + kContext;
    registers[Register::rax] = 0x8888;
    return registers;
  }();
};

TEST_F(ContextRestoreTest, FromTheFirstRegisterOnTheContextCounts) {
  for (const std::uint32_t rva : {kBehindFirst, kBehindRbp, kBehindRbp + 1, kLast}) {
    const auto restored = at(rva);
    ASSERT_TRUE(restored) << rva;
    EXPECT_EQ(restored->rip, 0x7777u);
    EXPECT_EQ((*restored)[Register::rbx], 0x1003u);
    EXPECT_EQ(restored->rsp(), 0x1004u);
    EXPECT_EQ((*restored)[Register::r15], 0x100Fu);
  }
}

TEST_F(ContextRestoreTest, BeforeThatTheFrameIsItsOwn) {
  EXPECT_FALSE(at(kFunction));
  EXPECT_FALSE(at(kBefore));
  EXPECT_FALSE(at(kFirst));
  EXPECT_FALSE(at(kJump + 2)) << "the return";
}

// At that point the CONTEXT lies below Rsp, and so in no copy of the stack.
TEST_F(ContextRestoreTest, AtTheJumpAllRegistersAreThere) {
  stack_.put32(kContext + 0x30, 0);
  const auto restored = at(kJump);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->rip, 0x8888u);
  EXPECT_EQ(restored->rsp(), kStack + 0x100);
}

TEST_F(ContextRestoreTest, NoContextOnTheStack) {
  for (const std::uint64_t address : {std::uint64_t{0}, kStack + 0x80, kStack + 0xFF0, kImage}) {
    registers_[Register::r10] = address;
    EXPECT_FALSE(at(kLast)) << address;
  }
  registers_[Register::r10] = kStack + kContext;
  stack_.put32(kContext + 0x30, 0x10'0001);
  EXPECT_FALSE(at(kLast)) << "without the integer registers";
}

TEST_F(ContextRestoreTest, OtherCode) {
  image_.put(kJump, {0xFF, 0xD0});
  EXPECT_FALSE(at(kLast)) << "no jump";
  image_.put(kJump, {0xFF, 0xE0});
  EXPECT_TRUE(at(kLast));
  image_.put(kEntry.unwind, {0x01, 4, 2, 0x00});
  EXPECT_FALSE(at(kLast)) << "no frame register";
  image_.put(kEntry.unwind, {0x01, 4, 2, 0x05});
  image_.put(kLast, {0x90, 0x90});
  EXPECT_FALSE(at(kBehindRbp)) << "Rsp stays";
  registers_.rip = kImage + 0x2000;
  EXPECT_FALSE(restored_registers({image_, stack_, kImage}, {0x2000, 0x2040, 0x900}, Register::rbp, registers_))
      << "no code";
}

class NothingOutside final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t) noexcept override { return MemoryKind::nothing; }
};

class ContextRestoreStepTest : public ContextRestoreTest {
 protected:
  ContextRestoreStepTest() {
    image_.put_entry(0x800, kEntry.begin, kEntry.end, kEntry.unwind);
    stack_.put64(kContext + 0x98, kStack + 0x800);  // Rsp
  }
  StepResult step(std::uint32_t rva) {
    const ModuleSpan span{.base = kImage, .size = 0x1000, .pdata_rva = 0x800, .pdata_count = 1};
    const ModuleView modules({&span, 1});
    frame_ = {registers_};
    frame_.registers.rip = kImage + rva;
    frame_.registers[Register::rsp] = kStack + 0x100;
    return TableUnwindStep(modules, image_, stack_, outside_).step(frame_, LeafRule::allowed);
  }

  NothingOutside outside_;
  Cursor frame_;
};

TEST_F(ContextRestoreStepTest, TheCallerIsTheContext) {
  const StepResult result = step(kLast);
  EXPECT_EQ(result.fault, StepFault::none);
  EXPECT_EQ(result.trust, Trust::context);
  EXPECT_EQ(frame_.registers.rip, 0x7777u);
  EXPECT_EQ(frame_.kind, AddressKind::instruction_pointer);
}

// At the jump, Rsp is already loaded.
TEST_F(ContextRestoreStepTest, AtTheJumpRspStaysAsItIs) {
  EXPECT_EQ(step(kJump).fault, StepFault::none);
  EXPECT_EQ(frame_.registers.rip, 0x8888u);
  EXPECT_EQ(frame_.registers.rsp(), kStack + 0x100);
}

TEST_F(ContextRestoreStepTest, AJumpToItselfLeadsNowhere) {
  registers_[Register::rax] = kImage + kJump;
  EXPECT_EQ(step(kJump).fault, StepFault::stack_not_growing);
}

TEST_F(ContextRestoreStepTest, AContextWhoseRspIsOffTheStack) {
  stack_.put64(kContext + 0x98, kStack + 0x2000);
  EXPECT_EQ(step(kLast).fault, StepFault::unreadable_stack);
}

}  // namespace
}  // namespace mixwalk
