#include "unmanaged/step/table_unwind_step.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"
#include "tests/builders/unknown_outside_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kPdata = 0x800, kUnwind = 0x900, kFunction = 0x100;

// One image with one function, at kFunction, and a stack.
class TableUnwindStepTest : public testing::Test {
 protected:
  TableUnwindStepTest() {
    span_.base = kImage;
    span_.size = 0x1000;
    span_.pdata_rva = kPdata;
    span_.pdata_count = 1;
    image_.put_entry(kPdata, kFunction, kFunction + 0x80, kUnwind);
  }

  StepResult step(LeafRule leaf = LeafRule::forbidden) {
    const ModuleView modules({&span_, 1});
    return TableUnwindStep(modules, image_, stack_, outside_).step(frame_, leaf);
  }
  void stand_at(std::uint32_t rva, std::uint32_t rsp,
                AddressKind kind = AddressKind::instruction_pointer) {
    frame_.registers.rip = kImage + rva;
    frame_.registers[Register::rsp] = kStack + rsp;
    frame_.kind = kind;
  }
  void expect_caller(std::uint64_t rip, std::uint32_t rsp) {
    EXPECT_EQ(frame_.registers.rip, rip);
    EXPECT_EQ(frame_.registers.rsp(), kStack + rsp);
  }

  BuiltMemory image_{kImage, 0x1000};
  BuiltMemory stack_{kStack, 0x1000};
  UnknownOutsideMemory outside_;
  ModuleSpan span_;
  Cursor frame_;
};

// The prologue is: push rbx (ends at 1); push rdi (2); sub rsp, 0x20 (6).
void put_simple_prologue(BuiltMemory& image) {
  image.put(kUnwind, {0x01, 6, 3, 0,  // version 1, prologue 6, 3 codes
                      6, 0x32,        // alloc_small 0x20
                      2, 0x70,        // push rdi
                      1, 0x30});      // push rbx
}

TEST_F(TableUnwindStepTest, SavedRspBehindTheReturnAddress) {
  put_simple_prologue(image_);
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x130, kStack + 0x140);  // where the function's caller has its Rsp
  stack_.put64(0x138, kImage + 0x777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(kImage + 0x777, 0x140);
}

// Any other address of the stack is no such word, so the walk must show what it found.
TEST_F(TableUnwindStepTest, AnotherAddressOfTheStackInPlaceOfTheReturnAddress) {
  put_simple_prologue(image_);
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x130, kStack + 0x148);
  stack_.put64(0x138, kImage + 0x777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(kStack + 0x148, 0x138);
}

// Such an address was put there in place of the real one, which is not known.
TEST_F(TableUnwindStepTest, ReturnToTheFirstInstructionOfAFunctionHasNoCaller) {
  put_simple_prologue(image_);
  for (const LeafRule leaf : {LeafRule::forbidden, LeafRule::allowed}) {
    stand_at(kFunction, 0x100, AddressKind::return_address);
    const StepResult stepped = step(leaf);
    EXPECT_EQ(stepped.fault, StepFault::no_call);
    EXPECT_FALSE(stepped.no_unwind_data) << "then a caller would be guessed";
  }
}

TEST_F(TableUnwindStepTest, BodyUndoesTheWholePrologue) {
  put_simple_prologue(image_);
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x120, 0xDDDD);  // rdi
  stack_.put64(0x128, 0xBBBB);  // rbx
  stack_.put64(0x130, 0x7777);  // return address
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x138);
  EXPECT_EQ(frame_.registers[Register::rdi], 0xDDDDu);
  EXPECT_EQ(frame_.registers[Register::rbx], 0xBBBBu);
  EXPECT_EQ(frame_.kind, AddressKind::return_address);
}

TEST_F(TableUnwindStepTest, ProloguePartlyExecuted) {
  put_simple_prologue(image_);
  stand_at(kFunction + 1, 0x100);  // rbx is pushed, rdi is not
  stack_.put64(0x100, 0xBBBB);
  stack_.put64(0x108, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x110);
  EXPECT_EQ(frame_.registers[Register::rbx], 0xBBBBu);
  EXPECT_EQ(frame_.registers[Register::rdi], 0u);
}

TEST_F(TableUnwindStepTest, EpilogueIsExecutedToItsEnd) {
  put_simple_prologue(image_);
  image_.put(kFunction + 0x70, {0x5F, 0x5B, 0xC3});  // pop rdi; pop rbx; ret
  stand_at(kFunction + 0x71, 0x100);                 // rdi is popped already
  stack_.put64(0x100, 0xBBBB);
  stack_.put64(0x108, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x110);
  EXPECT_EQ(frame_.registers[Register::rbx], 0xBBBBu);
}

TEST_F(TableUnwindStepTest, TailCallOutOfTheFunctionIsAnEpilogue) {
  put_simple_prologue(image_);
  image_.put(kFunction + 0x70, {0xE9, 0x00, 0x04, 0x00, 0x00});
  stand_at(kFunction + 0x70, 0x100);
  stack_.put64(0x100, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x108);
}

TEST_F(TableUnwindStepTest, JumpBehindACallIsNoTailCall) {
  put_simple_prologue(image_);
  image_.put(kFunction + 0x70, {0xE9, 0x00, 0x04, 0x00, 0x00});
  stand_at(kFunction + 0x70, 0x100, AddressKind::return_address);
  stack_.put64(0x130, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x138);
}

// Microsoft's compiler saves a register only on the path that needs it, and counts all code up to that place as
// prologue. So the early exit before it has an epilogue in the middle of the prologue.
TEST_F(TableUnwindStepTest, EpilogueOfAnEarlyExitInsideThePrologue) {
  image_.put(kUnwind, {0x01, 0x1A, 3, 0,
                       0x1A, 0x34, 0x06, 0x00,  // save rbx at 6 * 8
                       4, 0x42});               // alloc_small 0x28
  image_.put(kFunction + 0x10, {0x48, 0x83, 0xC4, 0x28, 0xC3});  // add rsp, 0x28; ret
  stand_at(kFunction + 0x14, 0x100);
  stack_.put64(0x100, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x108);
}

// There is one more entry, and a jump of the function leads to its start.
class TableUnwindStepJumpTest : public TableUnwindStepTest {
 protected:
  TableUnwindStepJumpTest() {
    put_simple_prologue(image_);
    span_.pdata_count = 2;
    image_.put_entry(kPdata + 12, kFunction + 0x200, kFunction + 0x280, kUnwind + 0x40);
    image_.put(kFunction + 0x70, {0xE9, 0x8B, 0x01, 0x00, 0x00});
    stand_at(kFunction + 0x70, 0x100);
    stack_.put64(0x100, 0x6666);
    stack_.put64(0x130, 0x7777);
  }
};

TEST_F(TableUnwindStepJumpTest, ToAnotherFunctionIsATailCall) {
  image_.put(kUnwind + 0x40, {0x01, 4, 1, 0, 4, 0x42});  // alloc_small 0x28
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x6666, 0x108);
}

TEST_F(TableUnwindStepJumpTest, ToAChainedPartOfTheFunctionIsNone) {
  image_.put(kUnwind + 0x40, {0x21, 5, 2, 0, 5, 0x34, 6, 0});
  image_.put_entry(kUnwind + 0x48, kFunction, kFunction + 0x80, kUnwind);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x138);
}

TEST_F(TableUnwindStepJumpTest, ToAColdPartWhoseFrameStandsAlreadyIsNone) {
  image_.put(kUnwind + 0x40, {0x01, 0, 3, 0, 0, 0x32, 0, 0x70, 0, 0x30});
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x138);
}

TEST_F(TableUnwindStepTest, FrameRegisterAfterAlloca) {
  // The prologue is: push rbp (1); sub rsp, 0x30 (5); lea rbp, [rsp+0x20] (10).
  image_.put(kUnwind, {0x01, 10, 3, 0x25,  // frame register rbp, offset 2 * 16
                       10, 0x03,           // set_fpreg
                       5, 0x52,            // alloc_small 0x30
                       1, 0x50});          // push rbp
  stand_at(kFunction + 0x20, 0x80);  // alloca has moved Rsp
  frame_.registers[Register::rbp] = kStack + 0x220;
  stack_.put64(0x230, 0x5555);  // the caller's rbp
  stack_.put64(0x238, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x240);
  EXPECT_EQ(frame_.registers[Register::rbp], 0x5555u);
}

TEST_F(TableUnwindStepTest, SavedByMoveAndLargeAllocation) {
  image_.put(kUnwind, {0x01, 16, 7, 0,
                       16, 0x64, 0x04, 0x00,              // save rsi at 4 * 8
                       12, 0x75, 0x40, 0x00, 0x00, 0x00,  // save_far rdi at 0x40
                       7, 0x01, 0x20, 0x00});             // alloc_large 0x20 * 8
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x120, 0x5151);
  stack_.put64(0x140, 0xD1D1);
  stack_.put64(0x200, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x208);
  EXPECT_EQ(frame_.registers[Register::rsi], 0x5151u);
  EXPECT_EQ(frame_.registers[Register::rdi], 0xD1D1u);
}

TEST_F(TableUnwindStepTest, ChainedInfoUndoesItsParentsPrologueToo) {
  image_.put(kUnwind, {0x21, 0, 0, 0});  // UNW_FLAG_CHAININFO, no codes of its own
  image_.put_entry(kUnwind + 4, 0x40, 0x60, kUnwind + 0x40);
  image_.put(kUnwind + 0x40, {0x01, 4, 1, 0, 4, 0x42});  // alloc_small 0x28
  stand_at(kFunction, 0x100);  // at its first byte, the parent's prologue is nevertheless complete
  stack_.put64(0x128, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x130);
}

TEST_F(TableUnwindStepTest, ChainThatLeadsToItself) {
  image_.put(kUnwind, {0x21, 0, 0, 0});
  image_.put_entry(kUnwind + 4, kFunction, kFunction + 0x80, kUnwind);
  stand_at(kFunction + 0x20, 0x100);
  EXPECT_EQ(step().fault, StepFault::bad_unwind);
}

TEST_F(TableUnwindStepTest, MachineFrameLeadsToTheInterruptedInstruction) {
  image_.put(kUnwind, {0x01, 0, 1, 0, 0, 0x0A});  // push_machframe, no error code
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x100, 0x7777);          // Rip
  stack_.put64(0x118, kStack + 0x300);  // Rsp
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x300);
  EXPECT_EQ(frame_.kind, AddressKind::instruction_pointer);
}

TEST_F(TableUnwindStepTest, VersionTwoDescribesItsEpilogues) {
  image_.put(kUnwind, {0x02, 4, 3, 0,
                       1, 0x16, 5, 0x06,  // two slots of epilogue description
                       4, 0x42});         // alloc_small 0x28
  stand_at(kFunction + 0x20, 0x100);
  stack_.put64(0x128, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x130);
}

TEST_F(TableUnwindStepTest, LeafFunctionOnlyWhereOneCanStand) {
  stand_at(0x400, 0x100);  // no entry covers it
  image_.put(0x60B, {0xE8, 0xF0, 0xFD, 0xFF, 0xFF});  // call 400h
  stack_.put64(0x100, kImage + 0x610);
  EXPECT_EQ(step(LeafRule::forbidden).fault, StepFault::no_unwind);
  const StepResult result = step(LeafRule::allowed);
  EXPECT_EQ(result.fault, StepFault::none);
  EXPECT_EQ(result.trust, Trust::leaf);
  EXPECT_TRUE(result.proven);
  expect_caller(kImage + 0x610, 0x108);
}

TEST_F(TableUnwindStepTest, WordThatIsNoReturnAddressOfALeafFunction) {
  stand_at(0x400, 0x100);
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{0x7777}, kImage + 0x610}) {
    stack_.put64(0x100, word);
    EXPECT_EQ(step(LeafRule::allowed).fault, StepFault::no_call);
  }
}

TEST_F(TableUnwindStepTest, CallThroughANullPointerIsSteppedOver) {
  frame_.registers.rip = 0;
  frame_.registers[Register::rsp] = kStack + 0x100;
  image_.put(0x60E, {0xFF, 0xD0});
  stack_.put64(0x100, kImage + 0x610);
  EXPECT_EQ(step(LeafRule::forbidden).fault, StepFault::no_unwind);
  const StepResult result = step(LeafRule::allowed);
  EXPECT_EQ(result.fault, StepFault::none);
  EXPECT_FALSE(result.proven);
  expect_caller(kImage + 0x610, 0x108);
}

TEST_F(TableUnwindStepTest, CodeOutsideEveryImageMayHaveUnwindDataElsewhere) {
  frame_.registers.rip = 0x5000;
  frame_.registers[Register::rsp] = kStack + 0x100;
  EXPECT_EQ(step(LeafRule::allowed).fault, StepFault::no_unwind);
}

TEST_F(TableUnwindStepTest, AClosedImageIsNotRead) {
  put_simple_prologue(image_);
  span_.closed = true;
  stand_at(kFunction + 0x20, 0x100);
  EXPECT_EQ(step(LeafRule::allowed).fault, StepFault::unreadable_unwind);
}

TEST_F(TableUnwindStepTest, ReturnAddressAtTheFunctionsEndBelongsToTheCall) {
  put_simple_prologue(image_);
  stand_at(kFunction + 0x80, 0x100, AddressKind::return_address);
  stack_.put64(0x130, 0x7777);
  EXPECT_EQ(step().fault, StepFault::none);
  expect_caller(0x7777, 0x138);
}

TEST_F(TableUnwindStepTest, StackThatEndsTooSoon) {
  put_simple_prologue(image_);
  stand_at(kFunction + 0x20, 0xFD8);
  const Cursor before = frame_;
  EXPECT_EQ(step().fault, StepFault::unreadable_stack);
  EXPECT_EQ(frame_.registers, before.registers) << "a fault leaves the frame as it was";
}

TEST_F(TableUnwindStepTest, FrameRegisterThatPointsBelowTheFrame) {
  image_.put(kUnwind, {0x01, 4, 1, 0x05, 4, 0x03});  // set_fpreg rbp
  stand_at(kFunction + 0x20, 0x200);
  frame_.registers[Register::rbp] = kStack + 0x80;
  stack_.put64(0x80, 0x7777);
  EXPECT_EQ(step().fault, StepFault::stack_not_growing);
}

TEST_F(TableUnwindStepTest, UnwindDataThatIsNotThere) {
  image_.put_entry(kPdata, kFunction, kFunction + 0x80, 0x0FFF'0000);
  stand_at(kFunction + 0x20, 0x100);
  EXPECT_EQ(step().fault, StepFault::unreadable_unwind);
  span_.pdata_rva = 0x0FFF'0000;
  EXPECT_EQ(step().fault, StepFault::unreadable_unwind);
}

TEST_F(TableUnwindStepTest, UnknownVersionAndUnknownOperation) {
  image_.put(kUnwind, {0x07, 0, 0, 0});
  stand_at(kFunction + 0x20, 0x100);
  EXPECT_EQ(step().fault, StepFault::bad_unwind);
  image_.put(kUnwind, {0x01, 4, 1, 0, 4, 0x0F});
  EXPECT_EQ(step().fault, StepFault::bad_unwind);
  image_.put(kUnwind, {0x01, 4, 1, 0, 4, 0x11});  // alloc_large that needs three slots, but there is one
  EXPECT_EQ(step().fault, StepFault::bad_unwind);
}

}  // namespace
}  // namespace mixwalk
