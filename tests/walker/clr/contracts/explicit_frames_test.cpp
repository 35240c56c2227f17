#include "walker/clr/contracts/explicit_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The layouts of .NET 10.
constexpr char kTypes[] = R"({"version":0,"baseline":"empty","types":{
  "Frame":{"Next":8},
  "InlinedCallFrame":{"Datum":16,"CallSiteSP":24,"CallerReturnAddress":32,"CalleeSavedFP":40},
  "FramedMethodFrame":{"TransitionBlockPtr":16},
  "SoftwareExceptionFrame":{"TargetContext":288},
  "FaultingExceptionFrame":{"TargetContext":32},
  "ResumableFrame":{"TargetContextPtr":16},
  "TransitionBlock":{"!":72,"CalleeSavedRegisters":0,"ReturnAddress":64},
  "CalleeSavedRegisters":{"Rdi":0,"Rsi":8,"Rbx":16,"Rbp":24,"R12":32,"R13":40,"R14":48,"R15":56}},"globals":{)";
constexpr char kIdentifiers[] = R"("InlinedCallFrameIdentifier":["0x1","nuint"],
  "ResumableFrameIdentifier":["0x2","nuint"],"FaultingExceptionFrameIdentifier":["0x4","nuint"],
  "SoftwareExceptionFrameIdentifier":["0x5","nuint"],"PrestubMethodFrameIdentifier":["0xc","nuint"])";
constexpr char kEnd[] = R"(},"contracts":{}})";

constexpr std::uint64_t kStack = 0x10'0000, kStackBytes = 0x4000, kNoNext = ~0ull;
constexpr std::uint64_t kMethod = 0x7000, kCode = 0x5000;  // the code has 0x100 bytes

// A stack with Frames. Each of them is at the Rsp of its caller + 0x40.
class ExplicitFrames : public testing::Test {
 protected:
  ExplicitFrames() {
    for (std::uint64_t at = 0; at < kStackBytes; at += 8) memory.put(kStack + at, std::uint64_t{0});
  }

  void put(std::uint64_t at, std::uint64_t value) { memory.put(kStack + at, value); }
  // `kind`: the Frame's number, or its vtable.
  void inlined(std::uint64_t at, std::uint64_t next, std::uint64_t return_address = kCode + 0x10,
               std::uint64_t kind = 1) {
    put(at, kind);
    put(at + 8, next);
    put(at + 16, 0xDA70);
    put(at + 24, kStack + at - 0x40);
    put(at + 32, return_address);
    put(at + 40, kStack + at + 0x80);
  }
  void transition(std::uint64_t at, std::uint64_t next, std::uint64_t block, std::uint64_t kind = 0xC) {
    put(at, kind);
    put(at + 8, next);
    put(at + 16, kStack + block);
    for (std::uint64_t i = 0; i < 8; ++i) put(block + 8 * i, 0x100 + i);
    put(block + 64, kCode + 0x20);
  }
  void context(std::uint64_t at, std::uint64_t rip, std::uint64_t rsp) {
    memory.put(kStack + at + 0x30, std::uint32_t{0x10'000B});
    memory.put(kStack + at + 0x38, std::uint16_t{0x33});
    put(at + 0x98, kStack + rsp);
    put(at + 0xF8, rip);
  }

  std::vector<RuntimeCall> calls(std::uint64_t newest, bool numbered = true) {
    const std::string text = std::string(kTypes) + (numbered ? kIdentifiers : "") + kEnd;
    const RuntimeReader reader(memory, *ContractDescriptor::parse(text, {}));
    std::vector<std::byte> buffer(kStackBytes + 16);
    StackCopy stack(buffer);
    stack.fill(memory, kStack, kStack + kStackBytes);
    return explicit_frames(reader, newest, stack,
                           [](std::uint64_t ip) { return ip - kCode < 0x100 ? kMethod : 0; });
  }
  static std::vector<std::uint64_t> places(const std::vector<RuntimeCall>& calls) {
    std::vector<std::uint64_t> places;
    for (const RuntimeCall& call : calls) places.push_back(call.caller.registers.rsp() - kStack);
    return places;
  }

  test::PagedMemory memory;
};

TEST_F(ExplicitFrames, CallOfAPInvoke) {
  inlined(0x100, kNoNext);
  const auto found = calls(kStack + 0x100);
  ASSERT_EQ(found.size(), 1u);
  const Cursor& caller = found[0].caller;
  EXPECT_EQ(caller.registers.rip, kCode + 0x10);
  EXPECT_EQ(caller.registers.rsp(), kStack + 0xC0);
  EXPECT_EQ(caller.registers[Register::rbp], kStack + 0x180);
  EXPECT_EQ(caller.kind, AddressKind::return_address);
  EXPECT_EQ(found[0].function, kMethod);
  EXPECT_EQ(found[0].callee, 0xDA70u);
}

TEST_F(ExplicitFrames, CallOfTheRuntimeItself) {
  transition(0x100, kNoNext, 0x200);
  const auto found = calls(kStack + 0x100);
  ASSERT_EQ(found.size(), 1u);
  const Registers& registers = found[0].caller.registers;
  EXPECT_EQ(registers.rip, kCode + 0x20);
  EXPECT_EQ(registers.rsp(), kStack + 0x200 + 72);
  EXPECT_EQ(registers[Register::rdi], 0x100u);
  EXPECT_EQ(registers[Register::rbp], 0x103u);
  EXPECT_EQ(registers[Register::r15], 0x107u);
  EXPECT_EQ(found[0].callee, 0u);
}

TEST_F(ExplicitFrames, AListOfSeveral) {
  inlined(0x100, kStack + 0x300);
  inlined(0x300, kStack + 0x500, 0);  // makes no call at the moment
  inlined(0x500, kStack + 0x700, 0x9999);  // leads to no managed code
  transition(0x700, kStack + 0x900, 0x780);
  put(0x900, 0x11);  // of a kind that makes no call
  put(0x908, kStack + 0xA00);
  inlined(0xA00, kNoNext);
  EXPECT_THAT(places(calls(kStack + 0x100)), ElementsAre(0xC0, 0x780 + 72, 0x9C0));
}

TEST_F(ExplicitFrames, OfNet9AreKnownByTheirContents) {
  inlined(0x100, kStack + 0x300, kCode + 0x10, 0x7FF8'0000);
  transition(0x300, kStack + 0x500, 0x380, 0x7FF8'0100);
  inlined(0x500, kNoNext, 0, 0x7FF8'0000);
  EXPECT_THAT(places(calls(kStack + 0x100, false)), ElementsAre(0xC0, 0x380 + 72));
}

TEST_F(ExplicitFrames, RegistersOfAnExceptionOrAnInterruption) {
  put(0x100, 5);
  put(0x108, kStack + 0x800);
  context(0x100 + 288, kCode + 0x30, 0x780);
  put(0x800, 2);
  put(0x808, kStack + 0x1000);
  put(0x810, kStack + 0x900);
  context(0x900, kCode, 0xF00);
  put(0x1000, 4);
  put(0x1008, kNoNext);
  context(0x1020, kCode + 0x50, 0x2000);
  const auto found = calls(kStack + 0x100);
  EXPECT_THAT(places(found), ElementsAre(0x780, 0xF00, 0x2000));
  EXPECT_EQ(found[0].caller.kind, AddressKind::return_address);
  EXPECT_EQ(found[1].caller.kind, AddressKind::instruction_pointer);
  EXPECT_EQ(found[2].caller.kind, AddressKind::instruction_pointer);
}

TEST_F(ExplicitFrames, AListThatNeverEndsOrLeavesTheStack) {
  inlined(0x100, kStack + 0x300);
  inlined(0x300, kStack + 0x100);
  EXPECT_THAT(places(calls(kStack + 0x100)), ElementsAre(0xC0, 0x2C0));
  inlined(0x300, kStack + 0x300);
  EXPECT_EQ(calls(kStack + 0x100).size(), 2u);
  inlined(0x300, kStack + kStackBytes);
  EXPECT_EQ(calls(kStack + 0x100).size(), 2u);
  EXPECT_THAT(calls(kStack - 8), IsEmpty());
  EXPECT_THAT(calls(0), IsEmpty());
  EXPECT_THAT(calls(kStack + kStackBytes - 8), IsEmpty());
}

// The thread has run since the address of the newest Frame was read.
TEST_F(ExplicitFrames, WordsThatAreNoFrame) {
  inlined(0x100, kNoNext);
  put(0x118, kStack + 0x108);  // the Rsp of the call is above the Frame
  EXPECT_THAT(calls(kStack + 0x100), IsEmpty());
  put(0x118, kStack - 8);  // or below the stack
  EXPECT_THAT(calls(kStack + 0x100), IsEmpty());
  transition(0x100, kNoNext, 0x80);  // the saved registers lie below the Frame
  EXPECT_THAT(calls(kStack + 0x100), IsEmpty());
}

}  // namespace
}  // namespace mixwalk
