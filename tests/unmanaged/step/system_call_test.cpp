#include "unmanaged/step/system_call.h"

#include <gtest/gtest.h>

#include "tests/support/code_builder.h"

namespace mixwalk {
namespace {

// Wine 8's NtWaitForSingleObject, as its ntdll.dll has it; the first half is the same as on Windows.
class SystemCall : public ::testing::Test {
 protected:
  SystemCall() : code_(0x10000, 0x100) {
    code_.put(0, {0x4c, 0x8b, 0xd1, 0xb8, 0xdf, 0x00, 0x00, 0x00, 0xf6, 0x04, 0x25,
                  0x08, 0x03, 0xfe, 0x7f, 0x01, 0x75, 0x03, 0x0f, 0x05, 0xc3});
    code_.put(0x18, {0xff, 0x14, 0x25, 0x00, 0x10, 0xfe, 0x7f, 0xc3});
    code_.put(0x30, {0xcd, 0x2e, 0xc3});
  }
  bool at(std::uint32_t offset) { return at_system_call(0x10000 + offset, code_); }
  BuiltMemory code_;
};

TEST_F(SystemCall, RightBehindIt) {
  EXPECT_TRUE(at(0x14));
  EXPECT_TRUE(at(0x1F));
  EXPECT_TRUE(at(0x32));
}

TEST_F(SystemCall, AnywhereElse) {
  for (const std::uint32_t offset : {0x0u, 0x1u, 0x8u, 0x12u, 0x13u, 0x15u, 0x18u, 0x20u, 0x31u}) {
    EXPECT_FALSE(at(offset)) << offset;
  }
}

TEST_F(SystemCall, MemoryThatIsNotThere) {
  EXPECT_FALSE(at_system_call(0, code_));
  EXPECT_FALSE(at_system_call(1, code_));
  EXPECT_FALSE(at_system_call(0x90000, code_));
}

}  // namespace
}  // namespace mixwalk
