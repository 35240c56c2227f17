#include "walker/merge/runtime_code.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kHeap = 0x6800'0000;
constexpr std::array kImages = {
    ModuleSpan{.base = 0x6801'0000, .size = 0x1000, .lock_risk = LockRisk::any},  // the runtime
    ModuleSpan{.base = 0x6802'0000, .size = 0x1000},
};

// The bytes are those of .NET 10 in hunt.exe.
class RuntimeCodeTest : public testing::Test {
 protected:
  std::string_view at(std::uint32_t offset) { return runtime_code_kind(kHeap + offset, ModuleView(kImages), heap_); }
  // jmp rel32 at this place.
  void put_jump(std::uint32_t at, std::uint64_t to) {
    heap_.put(at, {0xE9});
    heap_.put32(at + 1, static_cast<std::uint32_t>(to - (kHeap + at + 5)));
  }

  BuiltMemory heap_{kHeap, 0x1000};
};

TEST_F(RuntimeCodeTest, WriteBarriers) {
  heap_.put(0x100, {0x48, 0x89, 0x11, 0x4C, 0x8B, 0xC1, 0x48, 0xB8, 0x9F, 9, 0x53, 4, 0, 0, 0, 0, 0x48, 0xC1, 0xE9,
                    0x16});
  EXPECT_EQ(at(0xFF), "");
  for (const std::uint32_t offset : {0x100, 0x103, 0x110, 0x127, 0x1AF}) {
    EXPECT_EQ(at(offset), "write barrier") << offset;
  }
  EXPECT_EQ(at(0x1C0), "");
  heap_.put(0x100, {0x48, 0x89, 0x11, 0x0F, 0x1F, 0, 0x48, 0xB8});
  EXPECT_EQ(at(0x103), "write barrier");
  heap_.put(0x100, {0x48, 0x89, 0x11, 0x48, 0x8B, 0xC1, 0x49, 0xB8});
  EXPECT_EQ(at(0x103), "write barrier");
  heap_.put(0x100, {0x48, 0x89, 0x11, 0x48, 0x8B, 0xC1, 0x49, 0xB9});
  EXPECT_EQ(at(0x103), "");
}

TEST_F(RuntimeCodeTest, PrecodesAndCallCounters) {
  heap_.put(0x100, {0x4C, 0x8B, 0x15, 0xF9, 0x3F, 0, 0, 0xFF, 0x25, 0xFB, 0x3F, 0, 0, 0x90});
  EXPECT_EQ(at(0x100), "precode");
  EXPECT_EQ(at(0x107), "precode");
  EXPECT_EQ(at(0x10D), "") << "behind its last instruction";
  heap_.put(0x118, {0xFF, 0x25, 0xFA, 0x3F, 0, 0, 0x4C, 0x8B, 0x15, 0xFB, 0x3F, 0, 0, 0xFF, 0x25, 0xFD, 0x3F, 0, 0,
                    0x90});
  EXPECT_EQ(at(0x118), "precode");
  EXPECT_EQ(at(0x125), "precode");
  heap_.put(0x130, {0x48, 0x8B, 0x05, 0xF9, 0x3F, 0, 0, 0x66, 0xFF, 8, 0x74, 6, 0xFF, 0x25, 0xF6, 0x3F, 0, 0,
                    0xFF, 0x25, 0xF8, 0x3F, 0, 0});
  EXPECT_EQ(at(0x13A), "call counter");
  EXPECT_EQ(at(0x142), "call counter");
  EXPECT_EQ(at(0x148), "");
}

TEST_F(RuntimeCodeTest, DispatchOfInterfacesAndVirtualMethods) {
  heap_.put(0x100, {0x48, 0xB8, 0x78, 0xA5, 0x2E, 0x68, 0, 0, 0, 0, 0x48, 0x39, 1, 0x90, 0x48, 0xB8, 0, 0x30, 0x28,
                    0x1E, 0, 0, 0, 0, 0x0F, 0x85, 7, 0x67, 0, 0, 0xFF, 0xE0});
  EXPECT_EQ(at(0x10A), "interface dispatch");
  EXPECT_EQ(at(0x11E), "interface dispatch");
  heap_.put(0x140, {0x48, 0x8B, 1, 0x48, 0x8B, 0x40, 0x48, 0xFF, 0x60, 0x18, 0x0B, 0, 0, 0, 0, 0});
  EXPECT_EQ(at(0x143), "virtual call");
  heap_.put(0x14C, {1});
  EXPECT_EQ(at(0x143), "") << "no number of a slot follows";
}

TEST_F(RuntimeCodeTest, HelpersLeadIntoTheRuntime) {
  heap_.put(0x100, {0x48, 0xB9, 0xF8, 0xFB, 0x27, 0x68, 0, 0, 0, 0});
  put_jump(0x10A, 0x6801'0100);
  EXPECT_EQ(at(0x100), "helper");
  EXPECT_EQ(at(0x10A), "helper");
  put_jump(0x10A, 0x6802'0100);
  EXPECT_EQ(at(0x10A), "") << "another image";
  put_jump(0x10A, kHeap + 0x800);
  EXPECT_EQ(at(0x10A), "") << "unknown code";
  heap_.put(0x800, {0x48, 0xB8});  // a jump stub
  heap_.put64(0x802, 0x6801'0200);
  heap_.put(0x80A, {0xFF, 0xE0});
  EXPECT_EQ(at(0x10A), "helper");
  heap_.put(0x200, {0x48, 0x8B, 0xD1, 0x48, 0xB9, 0x40, 0xAA, 0x0D, 0x68, 0, 0, 0, 0});
  put_jump(0x20D, 0x6801'0100);
  EXPECT_EQ(at(0x203), "helper");
  heap_.put(0x300, {0x48, 0x8B, 0x41, 0x18, 0x48, 0x8B, 0x40, 0x10, 0x48, 0x85, 0xC0, 0x74, 1, 0xC3, 0x48, 0xBA});
  put_jump(0x318, 0x6801'0100);
  EXPECT_EQ(at(0x308), "helper");
  heap_.put(0x400, {0x48, 0x8B, 0x41, 0x30, 0x48, 0x8B, 0x40, 0, 0x48, 0x8B, 0x40, 0x20, 0x48, 0x85, 0xC0, 0x74, 1,
                    0xC3, 0x48, 0xBA});
  put_jump(0x41C, 0x6801'0100);
  EXPECT_EQ(at(0x404), "helper");
}

TEST_F(RuntimeCodeTest, MemoryThatCannotBeRead) {
  EXPECT_EQ(at(0x2000), "");
  EXPECT_EQ(runtime_code_kind(3, ModuleView(kImages), heap_), "");
}

TEST_F(RuntimeCodeTest, OnlyInterruptedCodeWithoutANameBecomesAStub) {
  heap_.put(0x100, {0x48, 0x89, 0x11, 0x4C, 0x8B, 0xC1, 0x48, 0xB8});
  Stack stack;
  stack.frames = {Frame{.kind = FrameKind::native, .address = kHeap + 0x103},
                  Frame{.kind = FrameKind::native, .address_kind = AddressKind::return_address,
                        .address = kHeap + 0x103},
                  Frame{.kind = FrameKind::native, .address = kHeap + 0x103, .module = 1},
                  Frame{.kind = FrameKind::managed, .address = kHeap + 0x103},
                  Frame{.kind = FrameKind::native, .address = kHeap + 0x800}};
  name_runtime_code(stack, ModuleView(kImages), heap_);
  EXPECT_EQ(stack.frames[0].kind, FrameKind::stub);
  EXPECT_EQ(stack.frames[0].name, "write barrier");
  EXPECT_EQ(stack.frames[1].kind, FrameKind::native);
  EXPECT_EQ(stack.frames[2].kind, FrameKind::native);
  EXPECT_EQ(stack.frames[3].kind, FrameKind::managed);
  EXPECT_EQ(stack.frames[4].kind, FrameKind::native);
}

}  // namespace
}  // namespace mixwalk
