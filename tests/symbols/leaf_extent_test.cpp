#include "symbols/leaf_extent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mixwalk {
namespace {

std::size_t extent(const std::vector<std::uint8_t>& code) {
  return leaf_extent(std::as_bytes(std::span(code)));
}

TEST(LeafExtentTest, NoCodeHasNoExtent) {
  EXPECT_EQ(extent({}), 0u);
}

TEST(LeafExtentTest, FunctionIsCertainUpToItsReturn) {
  // The code is: mov eax, [rcx+8]; ret; another function.
  EXPECT_EQ(extent({0x8B, 0x41, 0x08, 0xC3, 0x33, 0xC0, 0xC3}), 4u);
}

TEST(LeafExtentTest, JumpThunkIsCertainInItsFirstByteOnly) {
  EXPECT_EQ(extent({0xFF, 0x25, 1, 2, 3, 4, 0x90, 0x90}), 1u);        // jmp [rip + …]
  EXPECT_EQ(extent({0x48, 0xFF, 0x25, 1, 2, 3, 4, 0x90, 0x90}), 2u);  // rex.w jmp [rip + …]
  EXPECT_EQ(extent({0xE9, 1, 2, 3, 4, 0x90, 0x90}), 1u);
}

TEST(LeafExtentTest, ConditionalJumpEndsNothing) {
  // The code is: test ecx, ecx; je +2; mov eax, ecx; ret.
  EXPECT_EQ(extent({0x85, 0xC9, 0x74, 0x02, 0x8B, 0xC1, 0xC3, 0x90}), 7u);
}

TEST(LeafExtentTest, IncrementOfMemoryEndsNothing) {
  EXPECT_EQ(extent({0xFF, 0x01, 0x90, 0xC3, 0x90}), 4u);  // inc dword [rcx]
}

TEST(LeafExtentTest, TrapEndsTheCertainty) {
  EXPECT_EQ(extent({0x90, 0xCC, 0x90, 0x90}), 2u);
  EXPECT_EQ(extent({0x90, 0xCD, 0x29, 0x90}), 2u);        // int 0x29, fast fail
  EXPECT_EQ(extent({0x90, 0x0F, 0x0B, 0x90, 0x90}), 2u);  // ud2
}

TEST(LeafExtentTest, CodeThatIsCutOffIsCertainToItsEnd) {
  EXPECT_EQ(extent({0x90, 0x90, 0x0F}), 3u);
  EXPECT_EQ(extent({0x90, 0x90, 0x90}), 3u);
}

const std::vector<std::uint8_t> kWindowsStub = {0x4C, 0x8B, 0xD1, 0xB8, 0xC3, 0x00, 0x00, 0x00,
                                                0xF6, 0x04, 0x25, 0x08, 0x03, 0xFE, 0x7F, 0x01,
                                                0x75, 0x03, 0x0F, 0x05, 0xC3, 0xCD, 0x2E, 0xC3};

TEST(LeafExtentTest, SystemCallStubOfWindowsIsWhole) {
  auto code = kWindowsStub;
  code.insert(code.end(), {0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0});
  EXPECT_EQ(extent(code), 24u);
}

TEST(LeafExtentTest, SystemCallStubOfWineIsWhole) {
  auto code = kWindowsStub;
  code.resize(21);
  code.insert(code.end(), {0xEB, 0x01, 0xC3, 0xFF, 0x14, 0x25, 0, 0x10, 0xFE, 0x7F, 0xC3, 0x4C});
  EXPECT_EQ(extent(code), 32u);
}

TEST(LeafExtentTest, NumberOfASystemCallIsNoReturn) {
  // Windows 8.1 has: mov r10, rcx; mov eax, 0xC3; syscall; ret.
  EXPECT_EQ(extent({0x4C, 0x8B, 0xD1, 0xB8, 0xC3, 0, 0, 0, 0x0F, 0x05, 0xC3, 0x90}), 11u);
}

}  // namespace
}  // namespace mixwalk
