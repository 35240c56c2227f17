#include "unmanaged/step/epilogue_scan.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kCode = 0x1'4000'0000;
constexpr std::uint32_t kBegin = 0x100, kEnd = 0x180;

bool ends(std::initializer_list<int> bytes) {
  BuiltMemory code(kCode, 0x200);
  for (std::uint32_t at = 0; at < 0x200; ++at) code.put(at, {0x90});
  code.put(kBegin + 0x10, bytes);
  return epilogue_scan_ends(code, kCode + kBegin + 0x10, kCode + kBegin, kCode + kEnd);
}

TEST(EpilogueScan, Epilogues) {
  EXPECT_TRUE(ends({0xC3}));
  EXPECT_TRUE(ends({0x48, 0x83, 0xC4, 0x28, 0x5F, 0x41, 0x5C, 0xC3}));
  EXPECT_TRUE(ends({0x5B, 0xE9, 0, 1, 0, 0}));  // the jump leaves the function
}

TEST(EpilogueScan, BodyOfAFunction) { EXPECT_TRUE(ends({0x48, 0x8B, 0xC1})); }

TEST(EpilogueScan, JumpWithinTheFunctionToItsReturn) { EXPECT_TRUE(ends({0xEB, 0x01, 0x90, 0xC3})); }

TEST(EpilogueScan, JumpToItself) {
  EXPECT_FALSE(ends({0xEB, 0xFE}));
  EXPECT_FALSE(ends({0xE9, 0xFB, 0xFF, 0xFF, 0xFF}));
}

TEST(EpilogueScan, JumpsInACircle) {
  EXPECT_FALSE(ends({0x5B, 0xEB, 0x01, 0x90, 0xEB, 0xFA}));
  EXPECT_FALSE(ends({0x48, 0x83, 0xC4, 0x28, 0xEB, 0xFE}));
}

TEST(EpilogueScan, CodeThatCannotBeRead) {
  BuiltMemory code(kCode, 0x10);
  EXPECT_TRUE(epilogue_scan_ends(code, kCode + 0x100, kCode, kCode + 0x200));
}

}  // namespace
}  // namespace mixwalk
