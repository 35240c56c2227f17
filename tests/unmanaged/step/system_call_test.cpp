#include "unmanaged/step/system_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/builders/code_builder.h"

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

class SystemCallStub : public ::testing::Test {
 protected:
  using Bytes = std::vector<std::uint8_t>;
  static bool is_stub(const Bytes& bytes) {
    BuiltMemory code(0x10000, 0x100);
    for (std::size_t i = 0; i < bytes.size(); ++i) code.put(i, {bytes[i]});
    return is_system_call_stub(0x10000, code);
  }
  static Bytes windows10() {
    return {0x4c, 0x8b, 0xd1, 0xb8, 0x52, 0x00, 0x00, 0x00, 0xf6, 0x04, 0x25, 0x08, 0x03, 0xfe, 0x7f,
            0x01, 0x75, 0x03, 0x0f, 0x05, 0xc3, 0xcd, 0x2e, 0xc3};
  }
};

TEST_F(SystemCallStub, OfTheSystem) {
  EXPECT_TRUE(is_stub(windows10()));
  EXPECT_TRUE(is_stub({0x4c, 0x8b, 0xd1, 0xb8, 0x4f, 0x01, 0x00, 0x00, 0x0f, 0x05, 0xc3})) << "before version 1511";
}

// The forms in which other software overwrites a stub.
TEST_F(SystemCallStub, Overwritten) {
  const std::vector<std::pair<std::size_t, Bytes>> patches = {
      {0, {0xe9, 0x11, 0x22, 0x33, 0x44}},                                                  // jmp rel32
      {0, {0xff, 0x25, 0x00, 0x00, 0x00, 0x00}},                                            // jmp [rip]
      {0, {0x48, 0xb8, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x00, 0xff, 0xe0}},        // mov rax, imm64; jmp rax
      {3, {0xe9, 0x11, 0x22, 0x33, 0x44}},                                                  // behind mov r10, rcx
      {8, {0xe9, 0x11, 0x22, 0x33, 0x44}},                                                  // behind mov eax, number
      {0, {0xcc}},                                                                          // int3, and a handler
      {18, {0xcc, 0xcc}},                                                                   // in place of syscall
      {4, {0x11, 0x22, 0x33, 0x44}},                                                        // no number of a call
  };
  for (const auto& [at, bytes] : patches) {
    Bytes stub = windows10();
    std::copy(bytes.begin(), bytes.end(), stub.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(is_stub(stub)) << testing::PrintToString(bytes);
  }
}

TEST_F(SystemCallStub, MemoryThatIsNotThere) {
  EXPECT_FALSE(is_system_call_stub(0x90000, BuiltMemory(0x10000, 0x100)));
}

}  // namespace
}  // namespace mixwalk
