#include "unmanaged/step/zero_read.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/builders/code_builder.h"
#include "tests/builders/own_memory.h"

namespace mixwalk {

// Instructions as the assembler makes them. Each can be called: rcx points to zeros, rdx is 2.
#define INSTRUCTIONS(X)               \
  X(1, "movl (%rcx), %eax")           \
  X(2, "movl 8(%rcx,%rdx,4), %r8d")   \
  X(3, "movq (%rcx,%rdx,8), %rax")    \
  X(4, "movq 0x1234(%rcx), %r8")      \
  X(5, "movslq (%rcx), %rax")         \
  X(6, "movzbl 1(%rcx), %eax")        \
  X(7, "movzwl (%rcx), %r8d")         \
  X(8, "movsbl (%rcx), %eax")         \
  X(9, "movswq (%rcx), %rax")         \
  X(10, "cmpl (%rcx), %eax")          \
  X(11, "cmpq (%rcx), %rax")          \
  X(12, "cmpl %eax, (%rcx,%rdx,4)")   \
  X(13, "cmpq %r8, 0x70(%rcx)")       \
  X(14, "cmpl $5, (%rcx)")            \
  X(15, "cmpq $-1, (%rcx)")           \
  X(16, "cmpl $0x12345678, (%rcx)")   \
  X(17, "cmpb $-128, 3(%rcx)")        \
  X(18, "testb $1, (%rcx)")           \
  X(19, "testl $0x1000, (%rcx)")      \
  X(20, "testl %eax, (%rcx)")         \
  X(21, "addl (%rcx), %eax")          \
  X(22, "addq (%rcx), %rax")          \
  X(23, "subl (%rcx), %eax")          \
  X(24, "andl (%rcx), %eax")          \
  X(25, "orq (%rcx), %rax")           \
  X(26, "xorl (%rcx), %r8d")          \
  X(27, "movl zero_read_data(%rip), %eax")

#define ASSEMBLE(number, text) \
  asm(".text\nzero_read_" #number ":\n" text "\nzero_read_end_" #number ":\nret\n");
asm(".data\nzero_read_data: .quad 0\n");
INSTRUCTIONS(ASSEMBLE)
#define DECLARE(number, text)                            \
  extern const char begin_##number asm("zero_read_" #number); \
  extern const char end_##number asm("zero_read_end_" #number);
INSTRUCTIONS(DECLARE)

namespace {

struct Instruction {
  const char* text;
  const char *begin, *end;
};
#define LIST(number, text) {text, &begin_##number, &end_##number},
const Instruction kInstructions[] = {INSTRUCTIONS(LIST)};

struct State {
  std::uint64_t rax, r8, flags;
};

constexpr std::uint64_t kArithmetic = 0x8D5, kAdjust = 0x10;
alignas(16) std::uint8_t g_zeros[0x2000];

// Returns the state after the processor has executed the instruction.
State execute(const Instruction& instruction, State state) {
  std::uint64_t rax = state.rax, rcx = reinterpret_cast<std::uint64_t>(g_zeros), rdx = 2;
  std::uint64_t flags = state.flags;
  // On Linux, a function may keep data in the 128 bytes below Rsp.
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n"
      "movq %[r8], %%r8\n"
      "pushq %[flags]\npopfq\n"
      "call *%[code]\n"
      "pushfq\npopq %[flags]\n"
      "movq %%r8, %[r8]\n"
      "leaq 128(%%rsp), %%rsp\n"
      : "+a"(rax), "+c"(rcx), "+d"(rdx), [flags] "+r"(flags), [r8] "+r"(state.r8)
      : [code] "r"(instruction.begin)
      : "r8", "cc", "memory");
  return {rax, state.r8, flags & kArithmetic};
}

State imitate(const Instruction& instruction, State state) {
  Registers registers;
  registers[Register::rax] = state.rax;
  registers[Register::rcx] = reinterpret_cast<std::uint64_t>(g_zeros);
  registers[Register::rdx] = 2;
  registers[Register::r8] = state.r8;
  registers.rip = reinterpret_cast<std::uint64_t>(instruction.begin);
  auto flags = static_cast<std::uint32_t>(state.flags);
  EXPECT_TRUE(read_as_zero(test::OwnMemory(), registers, flags)) << instruction.text;
  EXPECT_EQ(registers.rip, reinterpret_cast<std::uint64_t>(instruction.end)) << instruction.text;
  return {registers[Register::rax], registers[Register::r8], flags & kArithmetic};
}

TEST(ReadAsZero, DoesWhatTheProcessorDoes) {
  const std::uint64_t values[] = {0, 1, 0x7FFF'FFFF, 0x8000'0000, 0xFFFF'FFFF,
                                  0x8000'0000'0000'0000, 0x1234'5678'9ABC'DEF0, ~std::uint64_t{0}};
  for (const Instruction& instruction : kInstructions) {
    SCOPED_TRACE(instruction.text);
    for (const std::uint64_t value : values) {
      for (const std::uint64_t flags : {std::uint64_t{0x202}, 0x202 | kArithmetic}) {
        const State before{value, ~value, flags};
        const State expected = execute(instruction, before);
        const State state = imitate(instruction, before);
        EXPECT_EQ(state.rax, expected.rax) << std::hex << value;
        EXPECT_EQ(state.r8, expected.r8) << std::hex << value;
        // Logical instructions leave the adjust flag undefined.
        EXPECT_EQ(state.flags & ~kAdjust, expected.flags & ~kAdjust) << std::hex << value;
      }
    }
  }
}

TEST(ReadAsZero, WhatItDoesNotKnowIsLeftAlone) {
  const std::vector<std::vector<int>> others = {
      {0x89, 0x01},                    // mov [rcx], eax
      {0x8B, 0xC1},                    // mov eax, ecx
      {0xFF, 0x11},                    // call [rcx]
      {0x83, 0x01, 0x05},              // add dword [rcx], 5
      {0x81, 0x31, 1, 0, 0, 0},        // xor dword [rcx], 1
      {0xF7, 0x19},                    // neg dword [rcx]
      {0x0F, 0x10, 0x01},              // movups xmm0, [rcx]
      {0xF3, 0xA4},                    // rep movsb
      {0x66, 0x8B, 0x01},              // mov ax, [rcx]: the rest of rax does not change
  };
  for (const auto& bytes : others) {
    BuiltMemory memory(0x1000, 16);
    for (std::size_t i = 0; i < bytes.size(); ++i) memory.put(static_cast<std::uint32_t>(i), {bytes[i]});
    Registers registers;
    registers.rip = memory.base();
    registers[Register::rax] = 7;
    const Registers before = registers;
    std::uint32_t flags = 0x246;
    EXPECT_FALSE(read_as_zero(memory, registers, flags));
    EXPECT_EQ(registers, before);
    EXPECT_EQ(flags, 0x246u);
  }
}

TEST(ReadAsZero, AnInstructionThatCannotBeReadIsLeftAlone) {
  // The instruction cmp qword [rcx + rdx*8 + 0x12345678], 0x12345678 is cut behind each of its bytes.
  constexpr int kBytes[] = {0x48, 0x81, 0xBC, 0xD1, 0x78, 0x56, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12};
  for (std::size_t there = 0; there <= std::size(kBytes); ++there) {
    BuiltMemory memory(0x1000, there);
    for (std::size_t i = 0; i < there; ++i) memory.put(static_cast<std::uint32_t>(i), {kBytes[i]});
    Registers registers;
    registers.rip = memory.base();
    std::uint32_t flags = 0;
    EXPECT_EQ(read_as_zero(memory, registers, flags), there == std::size(kBytes)) << there;
  }
}

}  // namespace
}  // namespace mixwalk
