#include "unmanaged/step/leaf_step.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kOutside = 0x2'0000'0000;
constexpr std::uint64_t kStack = 0x10'0000;
constexpr std::uint32_t kPdata = 0x1800;
constexpr std::uint32_t kCaller = 0x100, kOther = 0x200, kLeaf = 0x300, kData = 0x1000;

// Reads the image's memory and the memory outside.
class AllMemory final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return image.read(address, into, bytes) || outside.read(address, into, bytes);
  }
  BuiltMemory image{kImage, 0x2000};
  BuiltMemory outside{kOutside, 0x2000};
};

// Outside the image there is code up to 0x1000, then data.
class OutsideMap final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t address) noexcept override {
    if (!known) return MemoryKind::unknown;
    const std::uint64_t at = address - kOutside;
    return at < 0x1000 ? MemoryKind::code : at < 0x2000 ? MemoryKind::data : MemoryKind::nothing;
  }
  bool known = true;
};

// There are functions with unwind data at kCaller and kOther, and a leaf at kLeaf, in which the thread is.
class LeafStepTest : public testing::Test {
 protected:
  LeafStepTest() {
    memory_.image.put_entry(kPdata, kCaller, kCaller + 0x80, 0x1900);
    memory_.image.put_entry(kPdata + 12, kOther, kOther + 0x80, 0x1900);
    frame_.registers.rip = kImage + kLeaf + 0x10;
    frame_.registers[Register::rsp] = kStack;
    stack_.put64(0, kImage + kCaller + 0x20);
  }

  // Puts a call into the caller, so that it ends at the return address.
  void call(std::initializer_list<int> bytes) {
    memory_.image.put(kCaller + 0x20 - static_cast<std::uint32_t>(bytes.size()), bytes);
  }
  void call_direct(std::uint64_t target) {
    memory_.image.put(kCaller + 0x1B, {0xE8});
    memory_.image.put32(kCaller + 0x1C,
                        static_cast<std::uint32_t>(target - (kImage + kCaller + 0x20)));
  }
  void call_slot(std::uint64_t slot) {
    memory_.image.put(kCaller + 0x1A, {0xFF, 0x15});
    memory_.image.put32(kCaller + 0x1C,
                        static_cast<std::uint32_t>(slot - (kImage + kCaller + 0x20)));
  }

  StepResult step() {
    const ModuleView modules({&span_, 1});
    LeafStep step(modules, memory_, stack_, outside_);
    const auto rva = static_cast<std::uint32_t>(frame_.registers.rip - kImage);
    return step.step(frame_, leaf_code(span_, find_entry(memory_, span_, rva), frame_.registers.rip));
  }
  void expect_proven() {
    const StepResult result = step();
    EXPECT_EQ(result.fault, StepFault::none);
    EXPECT_TRUE(result.proven);
    EXPECT_EQ(result.trust, Trust::leaf);
    EXPECT_EQ(frame_.registers.rip, kImage + kCaller + 0x20);
    EXPECT_EQ(frame_.registers.rsp(), kStack + 8);
    EXPECT_EQ(frame_.kind, AddressKind::return_address);
  }
  void expect_guessed() {
    const StepResult result = step();
    EXPECT_EQ(result.fault, StepFault::none);
    EXPECT_FALSE(result.proven);
  }
  void expect_refused() {
    const Cursor before = frame_;
    EXPECT_EQ(step().fault, StepFault::no_call);
    EXPECT_EQ(frame_.registers, before.registers);
  }

  AllMemory memory_;
  BuiltMemory stack_{kStack, 0x100};
  OutsideMap outside_;
  ModuleSpan span_ = [] {
    ModuleSpan span{.base = kImage, .size = 0x2000, .pdata_rva = kPdata, .pdata_count = 2};
    span.add_code({kCaller, kData});
    return span;
  }();
  Cursor frame_;
};

TEST_F(LeafStepTest, DirectCallOfTheLeaf) {
  call_direct(kImage + kLeaf);
  expect_proven();
}

TEST_F(LeafStepTest, ReturnAddressLeftOverFromAnotherCall) {
  call_direct(kImage + kOther);
  expect_refused();
}

TEST_F(LeafStepTest, CallBehindWhereTheThreadStandsLedElsewhere) {
  call_direct(kImage + kLeaf + 0x11);
  expect_refused();
}

TEST_F(LeafStepTest, WordThatIsNoReturnAddress) {
  call({0x90, 0x90});
  expect_refused();
  for (const std::uint64_t word : {std::uint64_t{0}, kStack, kImage + kData + 8, kOutside + 0x1100,
                                   std::uint64_t{0x7777}}) {
    stack_.put64(0, word);
    expect_refused();
  }
}

TEST_F(LeafStepTest, Import) {
  memory_.image.put64(kData, kImage + kLeaf);
  call_slot(kImage + kData);
  expect_proven();
}

TEST_F(LeafStepTest, ImportOfAnotherFunction) {
  memory_.image.put64(kData, kImage + kOther);
  call_slot(kImage + kData);
  expect_refused();
}

TEST_F(LeafStepTest, CellOfTheRuntimeMayHaveChanged) {
  memory_.image.put64(kData, kImage + kOther);
  span_.has_managed_code = true;
  call_slot(kImage + kData);
  expect_guessed();
}

TEST_F(LeafStepTest, CallThroughARegisterIsAGuess) {
  call({0xFF, 0xD0});
  expect_guessed();
}

TEST_F(LeafStepTest, ThunksAreFollowed) {
  memory_.image.put(0x800, {0xFF, 0x25, 0xFA, 0x07, 0, 0});  // jmp [kData]
  memory_.image.put64(kData, kImage + 0x900);
  memory_.image.put(0x900, {0xE9, 0xFB, 0xF9, 0xFF, 0xFF});  // jmp kLeaf
  call_direct(kImage + 0x800);
  expect_proven();
}

TEST_F(LeafStepTest, ThunkThatLeadsElsewhere) {
  memory_.image.put(0x800, {0xE9, 0xFB, 0xF9, 0xFF, 0xFF});  // jmp kOther
  call_direct(kImage + 0x800);
  expect_refused();
}

TEST_F(LeafStepTest, ThunksInACircle) {
  memory_.image.put(0x800, {0xE9, 0xFB, 0x00, 0, 0});        // jmp 900h
  memory_.image.put(0x900, {0xE9, 0xFB, 0xFE, 0xFF, 0xFF});  // jmp 800h
  call_direct(kImage + 0x800);
  expect_refused();
}

TEST_F(LeafStepTest, FunctionThatEndsInATailCallOfTheLeaf) {
  memory_.image.put(kOther + 0x40, {0xE9, 0xBB, 0, 0, 0});  // jmp kLeaf
  call_direct(kImage + kOther);
  expect_proven();
}

// Real case: coreclr tests a flag and jumps to its slow path, which has no unwind data.
TEST_F(LeafStepTest, ConditionalTailCallOfTheLeaf) {
  memory_.image.put(kOther + 0x40, {0x0F, 0x84, 0xBA, 0, 0, 0});  // je kLeaf
  call_direct(kImage + kOther);
  expect_proven();
}

// A function that does not always jump is not a thunk, so the code after the jump counts as well.
TEST_F(LeafStepTest, FunctionThatBeginsWithAConditionalJump) {
  memory_.image.put(kOther, {0x0F, 0x84, 0xFA, 0x05, 0, 0});  // je 800h
  memory_.image.put(kOther + 0x40, {0xE9, 0xBB, 0, 0, 0});    // jmp kLeaf
  call_direct(kImage + kOther);
  expect_proven();
}

// Real case: clrjit has a function with a part that lies elsewhere and ends in the tail call.
TEST_F(LeafStepTest, PartOfAFunctionThatEndsInATailCallOfTheLeaf) {
  constexpr std::uint32_t kPart = 0x400, kPartUnwind = 0x1940;
  memory_.image.put_entry(kPdata + 24, kPart, kPart + 0x20, kPartUnwind);
  memory_.image.put(kPartUnwind, {0x21, 0, 0, 0});  // version 1, chained
  memory_.image.put_entry(kPartUnwind + 4, kOther, kOther + 0x80, 0x1900);
  span_.pdata_count = 3;
  memory_.image.put(kOther + 0x10, {0x0F, 0x84, 0xEA, 0x01, 0, 0});  // je kPart
  memory_.image.put(kPart + 4, {0xE9, 0xF7, 0xFE, 0xFF, 0xFF});      // jmp kLeaf
  call_direct(kImage + kOther);
  expect_proven();
}

// The jump leads to another function, and the jumps of that function do not count for the first one.
TEST_F(LeafStepTest, FunctionThatJumpsToAnotherOneThatJumpsToTheLeaf) {
  constexpr std::uint32_t kThird = 0x400;
  memory_.image.put_entry(kPdata + 24, kThird, kThird + 0x20, 0x1900);
  span_.pdata_count = 3;
  memory_.image.put(kOther + 0x10, {0x0F, 0x84, 0xEA, 0x01, 0, 0});
  memory_.image.put(kThird + 4, {0xE9, 0xF7, 0xFE, 0xFF, 0xFF});
  call_direct(kImage + kOther);
  expect_refused();
}

// Control flow guard imports a routine that ends in `jmp rax`.
TEST_F(LeafStepTest, DispatcherOfIndirectCallsIsAGuess) {
  memory_.image.put(0x800, {0x4C, 0x8B, 0xD8, 0x48, 0xFF, 0xE0});
  memory_.image.put64(kData, kImage + 0x800);
  call_slot(kImage + kData);
  expect_guessed();
}

TEST_F(LeafStepTest, DispatcherWithUnwindDataIsAGuess) {
  memory_.image.put(kOther, {0xFF, 0xE0});
  memory_.image.put64(kData, kImage + kOther);
  call_slot(kImage + kData);
  expect_guessed();
}

// A function calls the leaf by a virtual tail call.
TEST_F(LeafStepTest, TailCallThroughTheDispatcherIsAGuess) {
  memory_.image.put(0x800, {0x48, 0x8B, 0x01, 0x48, 0xFF, 0x25, 0xF6, 0x07, 0, 0});  // jmp [kData]
  memory_.image.put(0x900, {0xFF, 0xE0});
  memory_.image.put64(kData, kImage + 0x900);
  call_direct(kImage + 0x800);
  expect_guessed();
}

TEST_F(LeafStepTest, CallFromOutsideThroughAThunkOutside) {
  memory_.outside.put(0x1B, {0xE8, 0xE0, 0, 0, 0});  // call 100h
  memory_.outside.put(0x100, {0x48, 0xB8});          // mov rax, kLeaf; jmp rax
  memory_.outside.put64(0x102, kImage + kLeaf);
  memory_.outside.put(0x10A, {0xFF, 0xE0});
  stack_.put64(0, kOutside + 0x20);
  EXPECT_TRUE(step().proven);
  EXPECT_EQ(frame_.registers.rip, kOutside + 0x20);
}

TEST_F(LeafStepTest, OutsideIsNotReadWhereNothingIsKnownOfIt) {
  outside_.known = false;
  memory_.outside.put(0x1B, {0xE8, 0xE0, 0, 0, 0});
  stack_.put64(0, kOutside + 0x20);
  expect_refused();
  // A call from the image to this code may have led to the leaf.
  stack_.put64(0, kImage + kCaller + 0x20);
  call_direct(kOutside - 0x4000'0000);
  expect_guessed();
}

// Asks whether a call in code outside the images certainly calls other code.
bool calls_other_code(const MemoryReader& memory, const ModuleSpan& span, OutsideMemory& outside,
                      std::uint64_t code) {
  const ModuleView modules({&span, 1});
  const BuiltMemory stack(kStack, 8);
  return LeafStep(modules, memory, stack, outside).calls_other_code(kImage + kCaller + 0x20, {code, code});
}

TEST_F(LeafStepTest, CallOfOtherCodeByItsAddress) {
  call_direct(kImage + kOther);
  EXPECT_FALSE(calls_other_code(memory_, span_, outside_, kImage + kOther));
  EXPECT_TRUE(calls_other_code(memory_, span_, outside_, kImage + kLeaf));
  // The function jumps to an unknown place: jmp rax.
  memory_.image.put(kOther + 0x40, {0xFF, 0xE0});
  EXPECT_FALSE(calls_other_code(memory_, span_, outside_, kImage + kLeaf));
  memory_.image.put(kOther + 0x40, {0x90, 0x90});
  // The function jumps to the code in question: jmp rel32.
  memory_.image.put(kOther, {0xE9});
  memory_.image.put32(kOther + 1, kLeaf - (kOther + 5));
  EXPECT_FALSE(calls_other_code(memory_, span_, outside_, kImage + kLeaf));
}

TEST_F(LeafStepTest, CallThroughARegisterOrASlotNamesNoOtherCode) {
  call({0xFF, 0xD0});
  EXPECT_FALSE(calls_other_code(memory_, span_, outside_, kOutside + 0x200));
  memory_.image.put64(kData, kImage + kOther);
  call_slot(kImage + kData);
  EXPECT_FALSE(calls_other_code(memory_, span_, outside_, kOutside + 0x200));
}

TEST_F(LeafStepTest, StackThatCannotBeRead) {
  frame_.registers[Register::rsp] = kStack + 0x100;
  EXPECT_EQ(step().fault, StepFault::unreadable_stack);
}

}  // namespace
}  // namespace mixwalk
