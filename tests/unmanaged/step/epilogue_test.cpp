#include "unmanaged/step/epilogue.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr FunctionEntry kEntry{0x100, 0x180, 0x900};

// Some code in the middle of the only function of an image. Rsp is at 0x100 of the stack, and every slot of the stack
// contains its own offset.
class EpilogueTest : public testing::Test {
 protected:
  EpilogueTest() {
    for (std::uint32_t at = 0; at < 0x1000; at += 8) stack_.put64(at, at);
  }
  EpilogueResult run(std::initializer_list<int> code, Register frame = Register::rax) {
    image_.put(0x120, code);
    registers_.rip = kImage + 0x120;
    registers_[Register::rsp] = kStack + 0x100;
    const ModuleSpan span{.base = kImage, .size = 0x1000};
    return unwind_epilogue({image_, stack_, kImage}, &span, kEntry, frame, registers_);
  }
  void expect_caller(std::uint64_t slot_of_return_address) {
    EXPECT_EQ(registers_.rip, slot_of_return_address);
    EXPECT_EQ(registers_.rsp(), kStack + slot_of_return_address + 8);
  }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x1000};
  Registers registers_;
};

TEST_F(EpilogueTest, Returns) {
  EXPECT_EQ(run({0xC3}), EpilogueResult::unwound);
  expect_caller(0x100);
  EXPECT_EQ(run({0xF3, 0xC3}), EpilogueResult::unwound) << "rep ret";
  expect_caller(0x100);
  EXPECT_EQ(run({0xC2, 0x08, 0x00}), EpilogueResult::unwound) << "ret 8";
  expect_caller(0x100);
}

TEST_F(EpilogueTest, FreesTheFrameByOneByteOrFour) {
  EXPECT_EQ(run({0x48, 0x83, 0xC4, 0x28, 0xC3}), EpilogueResult::unwound);
  expect_caller(0x128);
  EXPECT_EQ(run({0x48, 0x81, 0xC4, 0x00, 0x02, 0x00, 0x00, 0xC3}), EpilogueResult::unwound);
  expect_caller(0x300);
}

TEST_F(EpilogueTest, PopsLowAndHighRegisters) {
  EXPECT_EQ(run({0x5B, 0x41, 0x5E, 0x48, 0x5F, 0xC3}), EpilogueResult::unwound);
  EXPECT_EQ(registers_[Register::rbx], 0x100u);
  EXPECT_EQ(registers_[Register::r14], 0x108u);
  EXPECT_EQ(registers_[Register::rdi], 0x110u) << "behind a superfluous prefix";
  expect_caller(0x118);
}

TEST_F(EpilogueTest, RestoresRspFromTheFrameRegister) {
  registers_[Register::rbp] = kStack + 0x200;
  EXPECT_EQ(run({0x48, 0x8D, 0x65, 0x10, 0x5D, 0xC3}, Register::rbp), EpilogueResult::unwound);
  EXPECT_EQ(registers_[Register::rbp], 0x210u);
  expect_caller(0x218);
  registers_[Register::r13] = kStack + 0x400;
  EXPECT_EQ(run({0x49, 0x8D, 0xA5, 0x00, 0xFF, 0xFF, 0xFF, 0xC3}, Register::r13),
            EpilogueResult::unwound);
  expect_caller(0x300);
}

TEST_F(EpilogueTest, RspFromAnotherRegisterIsNoEpilogue) {
  registers_[Register::rbp] = kStack + 0x200;
  EXPECT_EQ(run({0x48, 0x8D, 0x65, 0x10, 0x5D, 0xC3}, Register::rbx),
            EpilogueResult::not_in_epilogue);
  EXPECT_EQ(run({0x48, 0x8D, 0x65, 0x10, 0x5D, 0xC3}), EpilogueResult::not_in_epilogue);
}

TEST_F(EpilogueTest, JumpsOutOfTheFunction) {
  EXPECT_EQ(run({0x5B, 0xE9, 0x00, 0x01, 0x00, 0x00}), EpilogueResult::unwound);
  expect_caller(0x108);
  EXPECT_EQ(run({0xEB, 0x70}), EpilogueResult::unwound);
  EXPECT_EQ(run({0xE9, 0x00, 0x00, 0x10, 0x00}), EpilogueResult::unwound) << "another image";
  EXPECT_EQ(run({0xFF, 0x25, 0x00, 0x00, 0x00, 0x00}), EpilogueResult::unwound) << "an import";
  EXPECT_EQ(run({0x48, 0xFF, 0xE0}), EpilogueResult::unwound) << "rex.w jmp rax";
  EXPECT_EQ(run({0x48, 0xFF, 0x25, 0, 0, 0, 0}), EpilogueResult::unwound) << "rex.w, an import";
  EXPECT_EQ(run({0x5D, 0xFF, 0x24, 0x25, 0, 0, 0x40, 0x20}), EpilogueResult::unwound) << "the JIT's cell";
  expect_caller(0x108);
}

TEST_F(EpilogueTest, JumpsWithinTheFunction) {
  EXPECT_EQ(run({0xEB, 0x10}), EpilogueResult::not_in_epilogue);
  EXPECT_EQ(run({0xE9, 0xE0, 0xFF, 0xFF, 0xFF}), EpilogueResult::not_in_epilogue);
  EXPECT_EQ(run({0xFF, 0xE0}), EpilogueResult::not_in_epilogue) << "jmp rax: a switch";
  EXPECT_EQ(run({0xFF, 0x24, 0xC5, 0, 0, 0x40, 0x20}), EpilogueResult::not_in_epilogue)
      << "jmp [rax * 8 + disp32]: a switch";
}

TEST_F(EpilogueTest, JumpsOfCodeOutsideTheImages) {
  const auto run_outside = [&](std::initializer_list<int> code) {
    run(code);
    registers_.rip = kImage + 0x120;
    registers_[Register::rsp] = kStack + 0x100;
    return unwind_epilogue({image_, stack_, kImage}, nullptr, kEntry, Register::rax, registers_);
  };
  EXPECT_EQ(run_outside({0x5B, 0xE9, 0x00, 0x01, 0x00, 0x00}), EpilogueResult::unwound);
  expect_caller(0x108);
  EXPECT_EQ(run_outside({0x48, 0xFF, 0xE0}), EpilogueResult::unwound);
  EXPECT_EQ(run_outside({0xEB, 0x10}), EpilogueResult::not_in_epilogue);
}

TEST_F(EpilogueTest, OtherCodeChangesNothing) {
  const auto untouched = [&](std::initializer_list<int> code) {
    EXPECT_EQ(run(code), EpilogueResult::not_in_epilogue);
    EXPECT_EQ(registers_.rsp(), kStack + 0x100);
    EXPECT_EQ(registers_.rip, kImage + 0x120);
  };
  untouched({0x90, 0xC3});                    // nop; ret
  untouched({0x5B, 0x90, 0xC3});              // pop rbx; nop; ret
  untouched({0x48, 0x83, 0xEC, 0x28, 0xC3});  // sub rsp, 0x28; ret
  untouched({0x83, 0xC4, 0x28, 0xC3});        // add esp, 0x28; ret
  untouched({0xF3, 0x90});                    // pause
  untouched({0x48, 0xFF, 0xD0});              // rex.w call rax
}

TEST_F(EpilogueTest, CodeOrStackThatIsNotThere) {
  registers_.rip = kImage + 0x1000;
  registers_[Register::rsp] = kStack + 0x100;
  const ModuleSpan span{.base = kImage, .size = 0x2000};
  EXPECT_EQ(unwind_epilogue({image_, stack_, kImage}, &span, kEntry, Register::rax, registers_),
            EpilogueResult::not_in_epilogue);
  EXPECT_EQ(run({0x48, 0x81, 0xC4, 0x00, 0x20, 0x00, 0x00, 0xC3}),
            EpilogueResult::unreadable_stack);
  EXPECT_EQ(run({0x48, 0x81, 0xC4, 0x00, 0x20, 0x00, 0x00, 0x5B, 0xC3}),
            EpilogueResult::unreadable_stack);
}

TEST_F(EpilogueTest, NothingButPops) {
  std::vector<int> pops(40, 0x5B);
  for (std::size_t i = 0; i < pops.size(); ++i) {
    image_.put(0x120 + static_cast<std::uint32_t>(i), {pops[i]});
  }
  EXPECT_EQ(run({0x5B}), EpilogueResult::not_in_epilogue);
}

}  // namespace
}  // namespace mixwalk
