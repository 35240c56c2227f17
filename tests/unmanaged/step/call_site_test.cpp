#include "unmanaged/step/call_site.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kCode = 0x1'4000'0000;

using Kind = CallSite::Kind;

// Returns the calls that can end behind these bytes. The bytes are at the end of a page of nops.
CallSites after(std::initializer_list<int> bytes) {
  static BuiltMemory code(kCode, 0x200);
  for (std::uint32_t at = 0; at < 0x100; ++at) code.put(at, {0x90});
  code.put(0x100 - static_cast<std::uint32_t>(bytes.size()), bytes);
  return calls_before(kCode + 0x100, code);
}

void expect_one(const CallSites& calls, Kind kind, std::uint64_t address = 0) {
  ASSERT_EQ(calls.sites().size(), 1u);
  EXPECT_EQ(calls.sites()[0].kind, kind);
  EXPECT_EQ(calls.sites()[0].address, address);
}

TEST(CallSite, DirectCallLeadsForwardsAndBackwards) {
  expect_one(after({0xE8, 0x10, 0, 0, 0}), Kind::direct, kCode + 0x110);
  expect_one(after({0xE8, 0xF0, 0xFF, 0xFF, 0xFF}), Kind::direct, kCode + 0xF0);
}

TEST(CallSite, CallThroughAnImport) {
  expect_one(after({0xFF, 0x15, 0x40, 0, 0, 0}), Kind::slot, kCode + 0x140);
  expect_one(after({0x48, 0xFF, 0x15, 0x40, 0, 0, 0}), Kind::slot, kCode + 0x140);
}

TEST(CallSite, CallThroughARegister) {
  expect_one(after({0xFF, 0xD0}), Kind::indirect);
  expect_one(after({0x41, 0xFF, 0xD3}), Kind::indirect);
}

TEST(CallSite, CallThroughMemoryByARegister) {
  expect_one(after({0xFF, 0x10}), Kind::indirect);                          // [rax]
  expect_one(after({0xFF, 0x14, 0x24}), Kind::indirect);                    // [rsp]
  expect_one(after({0xFF, 0x50, 0x18}), Kind::indirect);                    // [rax + 18h]
  expect_one(after({0xFF, 0x54, 0x24, 0x20}), Kind::indirect);              // [rsp + 20h]
  expect_one(after({0xFF, 0x90, 0x20, 1, 0, 0}), Kind::indirect);           // [rax + 120h]
  expect_one(after({0xFF, 0x94, 0x24, 0x20, 1, 0, 0}), Kind::indirect);     // [rsp + 120h]
  expect_one(after({0x41, 0xFF, 0x92, 0x20, 1, 0, 0}), Kind::indirect);     // [r10 + 120h]
  expect_one(after({0xFF, 0x14, 0x25, 0, 0x10, 0xFE, 0x7F}), Kind::indirect);  // [7FFE1000h]
}

TEST(CallSite, OtherInstructionsOfTheSameOpcodeAreNoCalls) {
  EXPECT_TRUE(after({0xFF, 0xE0}).empty());              // jmp rax
  EXPECT_TRUE(after({0xFF, 0x25, 0x40, 0, 0, 0}).empty());  // jmp [rip + 40h]
  EXPECT_TRUE(after({0xFF, 0x70, 0x18}).empty());        // push [rax + 18h]
  EXPECT_TRUE(after({0xE9, 0x10, 0, 0, 0}).empty());     // jmp
}

TEST(CallSite, FormThatEndsElsewhereIsNone) {
  EXPECT_TRUE(after({0xFF, 0x54, 0x24}).empty());        // its displacement is missing
  EXPECT_TRUE(after({0xFF, 0xD0, 0x90}).empty());        // the call ends a byte before the address
  EXPECT_TRUE(after({0xE8, 0x10, 0, 0}).empty());
}

TEST(CallSite, BytesThatCanBeTwoCallsAreBoth) {
  const CallSites calls = after({0xE8, 0x00, 0x01, 0xFF, 0xD0});
  ASSERT_EQ(calls.sites().size(), 2u);
  EXPECT_EQ(calls.sites()[0].kind, Kind::indirect);
  EXPECT_EQ(calls.sites()[1].kind, Kind::direct);
}

TEST(CallSite, CodeThatBeginsWithTheCall) {
  BuiltMemory code(kCode, 0x100);
  code.put(0, {0xFF, 0xD0});
  EXPECT_EQ(calls_before(kCode + 2, code).sites().size(), 1u);
  EXPECT_TRUE(calls_before(kCode + 1, code).empty());
  EXPECT_TRUE(calls_before(kCode, code).empty());
  EXPECT_TRUE(calls_before(0, code).empty());
  EXPECT_TRUE(calls_before(3, code).empty());
}

Jump jump(std::vector<std::uint8_t> bytes) { return jump_at(bytes, kCode); }

TEST(Jump, EveryThunk) {
  EXPECT_EQ(jump({0xEB, 0xFE}).address, kCode);
  EXPECT_EQ(jump({0xE9, 0x10, 0, 0, 0}).address, kCode + 0x15);
  EXPECT_EQ(jump({0xFF, 0x25, 0x10, 0, 0, 0}).address, kCode + 0x16);
  EXPECT_EQ(jump({0x48, 0xFF, 0x25, 0x10, 0, 0, 0}).address, kCode + 0x17);
  EXPECT_EQ(jump({0xFF, 0x25, 0x10, 0, 0, 0}).kind, Jump::Kind::slot);
  EXPECT_EQ(jump({0x0F, 0x84, 0x10, 0, 0, 0}).address, kCode + 0x16);
  EXPECT_EQ(jump({0x0F, 0x84, 0x10, 0, 0, 0}).kind, Jump::Kind::conditional);
  EXPECT_EQ(jump({0xFF, 0xE0}).kind, Jump::Kind::indirect);
  EXPECT_EQ(jump({0x49, 0xFF, 0xE2}).kind, Jump::Kind::indirect);
  // The code is: mov rax, 1122334455667788h; jmp rax.
  EXPECT_EQ(jump({0x48, 0xB8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xFF, 0xE0}).address,
            0x1122334455667788u);
  // The code is: mov r10, [rip + 3FF9h]; jmp [rip + 3FFBh].
  const Jump precode =
      jump({0x4C, 0x8B, 0x15, 0xF9, 0x3F, 0, 0, 0xFF, 0x25, 0xFB, 0x3F, 0, 0});
  EXPECT_EQ(precode.kind, Jump::Kind::slot);
  EXPECT_EQ(precode.address, kCode + 13 + 0x3FFB);
}

TEST(Jump, NoneAndThoseThatAreCut) {
  EXPECT_EQ(jump({}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0x90, 0xE9}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0xE9, 0x10, 0, 0}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0xFF, 0x25, 0x10, 0, 0}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0xEB}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0x0F, 0x84, 0x10, 0, 0}).kind, Jump::Kind::none);
  EXPECT_EQ(jump({0x0F, 0xAF, 0xC1, 0, 0, 0}).kind, Jump::Kind::none);  // imul
  EXPECT_EQ(jump({0x48, 0xB8, 0x88, 0x77}).kind, Jump::Kind::none);
}

}  // namespace
}  // namespace mixwalk
