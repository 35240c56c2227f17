#include "unmanaged/step/redirected.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"
#include "unmanaged/step/entry_step.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kFunction = 0x100;
constexpr FunctionEntry kEntry{kFunction, kFunction + 0x27, 0x900};
constexpr std::uint32_t kStoresRip = kFunction + 0x1D, kCalls = kStoresRip + 4, kReturns = kCalls + 5;

// RedirectedHandledJITCaseForGCThreadControl: push rax; push rbp; sub rsp, 0x28; mov rbp, rsp; and rsp, -16; call …;
// mov [rbp + 0x20], rax; mov rax, [rax + 0xF8]; mov [rbp + 0x30], rax; call …; int3.
class RedirectedTest : public testing::Test {
 protected:
  RedirectedTest() {
    image_.put(kEntry.unwind, {0x01, 9, 3, 0x05, 9, 0x03, 6, 0x42, 2, 0x50});  // set_fpreg, alloc 0x28, push rbp
    image_.put(kFunction, {0x50, 0x55, 0x48, 0x83, 0xEC, 0x28, 0x48, 0x8B, 0xEC, 0x48, 0x83, 0xE4, 0xF0,
                           0xE8, 1, 2, 3, 4, 0x48, 0x89, 0x45, 0x20, 0x48, 0x8B, 0x80, 0xF8, 0, 0, 0,
                           0x48, 0x89, 0x45, 0x30, 0xE8, 1, 2, 3, 4, 0xCC});
    frame_.registers[Register::rbp] = kStack + 0x100;
    frame_.registers[Register::rsp] = kStack + 0xF0;
    frame_.kind = AddressKind::return_address;
    stack_.put64(0x128, 0xBBBB);  // rbp
    stack_.put64(0x130, 0x7777);  // the interrupted Rip
  }
  bool at(std::uint32_t rva) const { return is_redirected(memory_, kEntry, kImage + rva); }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x1000};
  UnwindMemory memory_{image_, stack_, kImage};
  ModuleSpan module_;
  Cursor frame_;
};

TEST_F(RedirectedTest, CallerIsTheInterruptedInstruction) {
  EXPECT_TRUE(at(kReturns));
  frame_.registers.rip = kImage + kReturns;
  EXPECT_EQ(step_by_entry(memory_, &module_, kEntry, frame_).fault, StepFault::none);
  EXPECT_EQ(frame_.registers.rip, 0x7777u);
  EXPECT_EQ(frame_.registers.rsp(), kStack + 0x138);
  EXPECT_EQ(frame_.registers[Register::rbp], 0xBBBBu);
  EXPECT_EQ(frame_.kind, AddressKind::instruction_pointer);
}

TEST_F(RedirectedTest, BeforeItsRipIsStoredItIsNotKnown) {
  EXPECT_FALSE(at(kFunction));
  EXPECT_FALSE(at(kStoresRip));
  EXPECT_TRUE(at(kCalls));
}

TEST_F(RedirectedTest, OtherCode) {
  image_.put(kStoresRip, {0x48, 0x89, 0x45, 0x28});
  EXPECT_FALSE(at(kReturns)) << "another place";
  image_.put(kStoresRip, {0x48, 0x89, 0x45, 0x30});
  EXPECT_TRUE(at(kReturns));
  image_.put(kFunction, {0x51});
  EXPECT_FALSE(at(kReturns)) << "no room was made";
  EXPECT_FALSE(is_redirected(memory_, {kFunction, kFunction + 0x200, 0x900}, kImage + kReturns)) << "too long";
}

}  // namespace
}  // namespace mixwalk
