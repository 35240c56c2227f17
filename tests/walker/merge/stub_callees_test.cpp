#include "walker/merge/stub_callees.h"

#include <gtest/gtest.h>

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
    note_callees(stack, copy);
    return stub().callee;
  }

  static constexpr std::size_t kStub = 4, kCaller = 20;
  alignas(16) std::array<std::uint64_t, 24> words{};
  std::vector<std::byte> buffer = std::vector<std::byte>(1024);
  Stack stack;
};

TEST_F(StubCallees, TheWordBeforeTheStubsOwnRspAndReturnAddress) { EXPECT_EQ(callee(), kMethod); }

TEST_F(StubCallees, TheCopyAsItWasTaken) { EXPECT_EQ(callee(false), kMethod); }

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
  note_callees(stack, copy);
  EXPECT_EQ(stub().callee, 0u);
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
