#include "walker/merge/stub_callees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/builders/own_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kReturn = 0x6800'0040, kMethod = 0x681c'0d20;

// The stack is: native code ← a stub of 16 words ← a managed method. Its memory is an array of the test.
class StubCallees : public testing::Test {
 protected:
  StubCallees() {
    constexpr AddressKind kReturned = AddressKind::return_address;
    stack.frames = {{{.kind = FrameKind::native}, at(0)},
                    {{.kind = FrameKind::stub, .address_kind = kReturned, .address = kReturn, .function = 3},
                     at(kStub)},
                    {{.kind = FrameKind::managed, .address_kind = kReturned, .address = 0x900, .function = 4},
                     at(kCaller)}};
    words[kStub + 8] = kMethod;
    words[kStub + 9] = at(kStub);
    words[kStub + 10] = kReturn;
  }

  std::uint64_t at(std::size_t word) const { return reinterpret_cast<std::uint64_t>(&words[word]); }
  StackFrame& stub() { return stack.frames[1]; }
  std::uint64_t callee(bool rewritten = true) {
    StackCopy copy(buffer);
    copy.fill(test::OwnMemory(), at(0), at(words.size()));
    if (rewritten) copy.rewrite_pointers();
    note_callees(stack, copy, test::OwnMemory());
    return stub().callee;
  }

  static constexpr std::size_t kStub = 4, kCaller = 20;
  alignas(16) std::array<std::uint64_t, 24> words{};
  std::vector<std::byte> buffer = std::vector<std::byte>(1024);
  Stack stack;
};

TEST_F(StubCallees, TheWordBeforeTheStubsOwnRspAndReturnAddress) { EXPECT_EQ(callee(), kMethod); }

TEST_F(StubCallees, TheCopyAsItWasTaken) { EXPECT_EQ(callee(false), kMethod); }

TEST_F(StubCallees, AMethodThatTheRuntimeHasMarked) {
  words[kStub + 8] = kMethod | 2;
  EXPECT_EQ(callee(), kMethod);
}

TEST_F(StubCallees, AnotherCallOfTheStub) {
  words[kStub + 10] = kReturn + 5;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, ACallOfAnotherFrame) {
  words[kStub + 9] = at(kStub - 1);
  EXPECT_EQ(callee(), 0u);
  words[kStub + 9] = at(kCaller);
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, AStubThatHasMovedItsRsp) {
  words[kStub + 9] = at(kStub + 4);
  EXPECT_EQ(callee(), kMethod);
}

TEST_F(StubCallees, ARecordThatAnEarlierCallHasLeftBehind) {
  words[kStub + 9] = at(kStub + 7);
  for (const auto& [method, found] : {std::pair{kMethod, kMethod}, {kMethod + 8, std::uint64_t{0}}}) {
    words[kStub + 2] = method;
    words[kStub + 3] = at(kStub);
    words[kStub + 4] = kReturn;
    EXPECT_EQ(callee(), found);
    stub().callee = 0;
  }
}

TEST_F(StubCallees, AFrameThatIsTooLargeForAStub) {
  stack.frames[2].stack_pointer = at(kStub) + (64 << 10) + 8;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, ThePairBeyondTheStubsFrame) {
  words[kStub + 10] = 0;
  words[kCaller] = kMethod;
  words[kCaller + 1] = at(kStub);
  words[kCaller + 2] = kReturn;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, ThePairAtTheVeryBeginOfTheFrameHasNoWordBefore) {
  words[kStub + 10] = 0;
  words[kStub] = at(kStub);
  words[kStub + 1] = kReturn;
  words[kStub - 1] = kMethod;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, AStubThatWasInterrupted) {
  stub().address_kind = AddressKind::instruction_pointer;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, AStubThatCalledManagedCode) {
  stack.frames[0].kind = FrameKind::managed;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, CodeThatTheRuntimeDoesNotKnow) {
  stub().function = 0;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, AStackThatEndsInTheStub) {
  stack.frames.pop_back();
  EXPECT_EQ(callee(), 0u);
}

TEST_F(StubCallees, ACopyThatEndsInTheStub) {
  StackCopy copy(std::span<std::byte>(buffer).first(8 * (kStub + 9)));
  copy.fill(test::OwnMemory(), at(0), at(words.size()));
  ASSERT_TRUE(copy.cut());
  note_callees(stack, copy, test::OwnMemory());
  EXPECT_EQ(stub().callee, 0u);
}

// The frame of the stub is that of a managed method, and its code is an array of the test.
class InlinedCallees : public StubCallees {
 protected:
  static constexpr std::uint64_t kFar = 0x7FFA'1234'5678;
  static constexpr std::size_t kReturned = 160;  // offset of the return address in the code

  InlinedCallees() {
    stub().kind = FrameKind::managed;
    stub().address = words[kStub + 10] = returned();
    use(kFar);
  }

  std::uint64_t returned() const { return reinterpret_cast<std::uint64_t>(&code[kReturned]); }
  // The code that the JIT makes.
  void use(std::uint64_t method) {
    words[kStub + 8] = method;
    code.fill(0x90);
    const bool is_short = method < 0x8000'0000;
    std::vector<std::uint8_t> made = is_short ? std::vector<std::uint8_t>{0x48, 0xC7, 0x45, 0xA8}  // mov [rbp-0x58],
                                              : std::vector<std::uint8_t>{0x48, 0xB8};             // mov rax,
    add(made, method, is_short ? 4 : 8);
    if (!is_short) made.insert(made.end(), {0x48, 0x89, 0x45, 0xA8});  // mov [rbp-0x58],rax
    const std::size_t lea = kReturned - 30;
    std::ranges::copy(made, code.begin() + static_cast<std::ptrdiff_t>(lea - made.size()));
    set_lea(lea, kReturned);
  }
  static void add(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  // lea rax,[rip+to] at an offset of the code.
  void set_lea(std::size_t at, std::size_t to) {
    std::vector<std::uint8_t> lea{0x48, 0x8D, 0x05};
    add(lea, to - (at + 7), 4);
    std::ranges::copy(lea, code.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::array<std::uint8_t, kReturned + 16> code{};
};

TEST_F(InlinedCallees, TheMethodThatTheCodeStoresRightBeforeItsReturnAddress) {
  EXPECT_EQ(callee(), kFar);
  EXPECT_EQ(callee(false), kFar);
}

TEST_F(InlinedCallees, AMethodBelowFourGibibytes) {
  use(kMethod);
  EXPECT_EQ(callee(), kMethod);
}

// .NET 8 has a word of its own for stubs, which means nothing here.
TEST_F(InlinedCallees, AWordBetweenTheMethodAndTheRsp) {
  words[kStub + 7] = kFar;
  for (const std::uint64_t word : {std::uint64_t{0}, kMethod}) {
    words[kStub + 8] = word;
    EXPECT_EQ(callee(), kFar);
  }
}

TEST_F(InlinedCallees, AnotherRegister) {
  const std::uint8_t with_r11[] = {0x4C, 0x8D, 0x1D};
  std::ranges::copy(with_r11, code.begin() + kReturned - 30);
  EXPECT_EQ(callee(), kFar);
}

// The word is of an earlier P/Invoke of the method.
TEST_F(InlinedCallees, ACallThroughAPointer) {
  const std::array<std::uint8_t, kReturned + 16> pinvoke = code;
  code.fill(0x90);
  set_lea(kReturned - 30, kReturned);
  EXPECT_EQ(callee(), 0u);
  // The code of that P/Invoke is a little before.
  constexpr std::ptrdiff_t kBefore = 60;
  std::copy(pinvoke.begin() + kReturned - 60, pinvoke.begin() + kReturned, code.begin() + kReturned - 60 - kBefore);
  EXPECT_EQ(callee(), 0u);
}

TEST_F(InlinedCallees, ACallThatStoresNoReturnAddress) {
  set_lea(kReturned - 30, kReturned + 1);
  EXPECT_EQ(callee(), 0u);
}

TEST_F(InlinedCallees, CodeThatCannotBeRead) {
  StackCopy copy(buffer), none({});
  copy.fill(test::OwnMemory(), at(0), at(words.size()));
  note_callees(stack, copy, none);
  EXPECT_EQ(stub().callee, 0u);
  stub().address = words[kStub + 10] = 8;
  EXPECT_EQ(callee(), 0u);
}

TEST_F(InlinedCallees, AMethodWithoutACall) {
  words[kStub + 10] = 0;
  EXPECT_EQ(callee(), 0u);
}

TEST(InlinedStubs, AreFramesBeforeTheirMethods) {
  constexpr AddressKind kReturned = AddressKind::return_address;
  Stack stack;
  stack.frames = {{{.kind = FrameKind::native}, 0x100},
                  {{.kind = FrameKind::managed, .trust = Trust::dynamic, .address_kind = kReturned, .address = 0x900,
                    .function = 4, .module = 2, .name = "A.B()", .target = "orders!wait"}, 0x200},
                  {{.kind = FrameKind::stub, .name = "IL_STUB_PInvoke", .target = "orders!send"}, 0x300},
                  {{.kind = FrameKind::managed, .name = "A.C()"}, 0x400}};
  const std::vector<StackFrame> before = stack.frames;
  show_inlined_stubs(stack);
  ASSERT_EQ(stack.frames.size(), 5u);
  const StackFrame stub{{.kind = FrameKind::stub, .trust = Trust::dynamic, .address_kind = kReturned,
                         .inline_depth = 1, .address = 0x900, .module = 2, .name = "IL_STUB_PInvoke",
                         .target = "orders!wait"}, 0x200};
  EXPECT_EQ(stack.frames[0], before[0]);
  EXPECT_EQ(stack.frames[1], stub);
  EXPECT_EQ(stack.frames[2].name, "A.B()");
  EXPECT_EQ(stack.frames[2].target, "");
  EXPECT_EQ(stack.frames[3], before[2]);
  EXPECT_EQ(stack.frames[4], before[3]);
  const std::vector<StackFrame> shown = stack.frames;
  show_inlined_stubs(stack);
  EXPECT_EQ(stack.frames, shown) << "once only";
}

TEST(InlinedStubs, AreNotShownForTheRuntimesOwnFunctions) {
  Stack stack;
  stack.frames = {{{.kind = FrameKind::native}, 0x100},
                  {{.kind = FrameKind::managed, .address = 0x900, .name = "System.Threading.Monitor.Wait(object)",
                    .target = "QCall!Monitor_Wait"}, 0x200}};
  show_inlined_stubs(stack);
  ASSERT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[1].target, "");
}

// The stack is: native code ← a stub ← a managed method ← native code.
class CallsOfTheRuntime : public testing::Test {
 protected:
  static StackFrame frame(FrameKind kind, std::uint64_t rsp, std::uint64_t function) {
    return {{.kind = kind, .trust = Trust::unwind_info, .function = function}, rsp};
  }
  void call(std::uint64_t function, std::uint64_t rsp) {
    RuntimeCall& call = calls.emplace_back();
    call.caller.registers[Register::rsp] = rsp;
    call.function = function;
    call.callee = kMethod;
  }
  CallAgreement agreement() { return note_callees(stack, calls); }

  Stack stack{.frames = {frame(FrameKind::native, 0x100, 0), frame(FrameKind::stub, 0x200, 3),
                         frame(FrameKind::managed, 0x300, 4), frame(FrameKind::native, 0x400, 0)}};
  std::vector<RuntimeCall> calls;
};

TEST_F(CallsOfTheRuntime, AreMetByTheFrameAroundTheirRsp) {
  call(3, 0x230);
  EXPECT_EQ(agreement(), (CallAgreement{.calls = 1, .met = 1, .runs = 1, .bounded = 1, .agreed = 1}));
  EXPECT_EQ(stack.frames[1].callee, kMethod);
}

TEST_F(CallsOfTheRuntime, OfAnotherFunctionAreNotMet) {
  call(4, 0x230);
  EXPECT_EQ(agreement(), (CallAgreement{.calls = 1, .met = 0, .runs = 1, .bounded = 1, .agreed = 0}));
  EXPECT_EQ(stack.frames[1].callee, 0u);
}

TEST_F(CallsOfTheRuntime, ThatNameNoMethodLeaveTheOneThatTheStackNames) {
  stack.frames[1].callee = kMethod;
  call(3, 0x230);
  calls.back().callee = 0;
  EXPECT_EQ(agreement().met, 1u);
  EXPECT_EQ(stack.frames[1].callee, kMethod);
}

TEST_F(CallsOfTheRuntime, ARunWithoutACallIsNotConfirmed) {
  EXPECT_EQ(agreement(), (CallAgreement{.calls = 0, .met = 0, .runs = 1, .bounded = 0, .agreed = 0}));
  stack.frames.clear();
  call(3, 0x230);
  EXPECT_EQ(agreement(), (CallAgreement{.calls = 1, .met = 0, .runs = 0, .bounded = 0, .agreed = 0}));
}

// The runtime's own word proves nothing about the walk.
TEST_F(CallsOfTheRuntime, AFrameBehindAGapWasNotFoundByTheWalk) {
  stack.frames.insert(stack.frames.begin() + 1, Frame{.kind = FrameKind::gap});
  stack.frames[2].trust = Trust::runtime;
  call(3, 0x200);
  call(4, 0x300);
  EXPECT_EQ(agreement(), (CallAgreement{.calls = 2, .met = 1, .runs = 1, .bounded = 1, .agreed = 1}));
  EXPECT_EQ(stack.frames[2].callee, kMethod);
}

}  // namespace
}  // namespace mixwalk
