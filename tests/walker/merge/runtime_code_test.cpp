#include "walker/merge/runtime_code.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kHeap = 0x6800'0000;

// The bytes are those of .NET 10 in hunt.exe and torture.exe.
class RuntimeCodeTest : public testing::Test {
 protected:
  std::string_view at(std::uint32_t offset) { return runtime_code_kind(kHeap + offset, heap_); }
  // The runtime's Stub, with this code behind its header.
  void put_stub(std::uint32_t at, std::uint32_t flags, std::uint32_t bytes, std::initializer_list<int> code) {
    heap_.put32(at - 16, 3);
    heap_.put32(at - 12, flags | bytes);
    heap_.put(at, code);
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
  heap_.put(0x130, {0x48, 0x8B, 0x05, 0xF9, 0x3F, 0, 0, 0x66, 0xFF, 8, 0x74, 6, 0xFF, 0x25, 0xF6, 0x3F, 0, 0, 0xFF,
                    0x25, 0xF8, 0x3F, 0, 0});
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
  heap_.put(0x180, {0x48, 0x8B, 1, 0x48, 0x8B, 0x80, 0x60, 1, 0, 0, 0xFF, 0x60, 0, 0x20, 1, 0, 0});
  EXPECT_EQ(at(0x18A), "virtual call");
  EXPECT_EQ(at(0x18D), "") << "behind its last instruction";
}

TEST_F(RuntimeCodeTest, DispatchOfInterfacesThatIsNotBoundToOneType) {
  heap_.put(0x100, {0x90, 0x48, 0xB8, 5, 0, 0, 0, 4, 0, 0, 0, 0x50, 0x48, 0xB8, 0xF0, 0x51, 0x78, 1, 0, 0, 0, 0, 0xFF,
                    0xE0});
  EXPECT_EQ(at(0x10C), "interface dispatch");
  // mov rax, [rcx]; push rdx; mov r10, cache; mov rdx, rax; shr rax, 12; add rax, rdx; xor rax, 0x798; …
  heap_.put(0x180, {0x48, 0x8B, 1, 0x52, 0x49, 0xBA, 0xE0, 0xE7, 4, 1, 0, 0, 0, 0, 0x48, 0x8B, 0xD0, 0x48, 0xC1, 0xE8,
                    0x0C, 0x48, 3, 0xC2, 0x48, 0x35, 0x98, 7, 0, 0});
  EXPECT_EQ(at(0x180), "interface dispatch");
  EXPECT_EQ(at(0x1EE), "interface dispatch");
  EXPECT_EQ(at(0x1F0), "");
  heap_.put(0x300, {0x48, 0xB8, 0x78, 0xA5, 0x2E, 0x68, 0, 0, 0, 0, 0x48, 0x39, 1, 0x90, 0x48, 0xB8, 0, 0x30, 0x28,
                    0x1E, 0, 0, 0, 0, 0x75, 2, 0xFF, 0xE0, 0x48, 0xB8});
  EXPECT_EQ(at(0x31A), "interface dispatch");
}

TEST_F(RuntimeCodeTest, ShuffleThunks) {
  // mov rax, rsp; mov r11, rcx; mov rcx, rdx; mov rdx, r8; mov r8, r9; mov r9, [rax + 40]; mov r10, [rax + 48];
  // mov [rax + 40], r10; mov r10, [r11 + 32]; add r11, 32; jmp r10; and how the arguments are moved
  put_stub(0x110, 0x5000'0000, 0x40,
           {0x48, 0x8B, 0xC4, 0x49, 0x89, 0xCB, 0x48, 0x89, 0xD1, 0x4C, 0x89, 0xC2, 0x4D, 0x89, 0xC8, 0x4C, 0x8B, 0x48,
            0x28, 0x4C, 0x8B, 0x50, 0x30, 0x4C, 0x89, 0x50, 0x28, 0x4D, 0x8B, 0x53, 0x20, 0x49, 0x83, 0xC3, 0x20, 0x41,
            0xFF, 0xE2, 1, 0x80, 0, 0x80, 2, 0x80, 0xFF, 0xFF});
  for (const std::uint32_t offset : {0x110, 0x113, 0x123, 0x133}) EXPECT_EQ(at(offset), "shuffle thunk") << offset;
  EXPECT_EQ(at(0x136), "") << "behind its last instruction";
  EXPECT_EQ(at(0x10C), "") << "its header";
  heap_.put32(0x104, 0x40);
  EXPECT_EQ(at(0x123), "") << "no flags";
  heap_.put32(0x104, 0x5000'0020);
  EXPECT_EQ(at(0x123), "") << "the code is shorter than what is behind the header";
  heap_.put32(0x104, 0x5000'0040);
  heap_.put32(0x100, 0);
  EXPECT_EQ(at(0x123), "") << "nobody refers to it";
}

TEST_F(RuntimeCodeTest, InstantiatingStubs) {
  // mov r9, r8; mov r8, rdx; mov edx, method; mov eax, target; jmp rax
  put_stub(0x110, 0x6000'0000, 0x18,
           {0x4D, 0x89, 0xC1, 0x49, 0x89, 0xD0, 0xBA, 0x88, 0xBC, 0x24, 0x68, 0xB8, 0x10, 0xB8, 0x0A, 0x68, 0xFF,
            0xE0});
  EXPECT_EQ(at(0x110), "") << "no method";
  heap_.put64(0x108, 0x6824'BBF8);
  for (const std::uint32_t offset : {0x110, 0x116, 0x11B, 0x120}) EXPECT_EQ(at(offset), "instantiating stub") << offset;
  EXPECT_EQ(at(0x122), "");
  // The same with addresses of 8 bytes.
  put_stub(0x150, 0x6000'0000, 0x20,
           {0x49, 0x89, 0xD0, 0x48, 0xBA, 0x88, 0xBC, 0x24, 0x68, 0xF4, 0x7F, 0, 0, 0x48, 0xB8, 0x10, 0xB8, 0x0A, 0x68,
            0xF4, 0x7F, 0, 0, 0xFF, 0xE0});
  heap_.put64(0x148, 0x7FF4'6824'BBF8);
  EXPECT_EQ(at(0x15D), "instantiating stub");
  heap_.put(0x15D, {0x4C, 0xB8});
  EXPECT_EQ(at(0x15D), "") << "the target is in another register";
}

TEST_F(RuntimeCodeTest, HelpersAreCalledByAnImportSlot) {
  constexpr std::array kImages = {ModuleSpan{.base = kHeap + 0x800, .size = 0x200, .has_managed_code = true},
                                  ModuleSpan{.base = kHeap + 0xA00, .size = 0x200}};
  // mov rax, [rcx + 24]; mov rax, [rax]; ret
  heap_.put(0x100, {0x48, 0x8B, 0x41, 0x18, 0x48, 0x8B, 0x40, 0, 0xC3});
  const auto kind = [&](std::uint32_t ip, std::uint32_t return_address, FrameKind caller = FrameKind::managed) {
    Stack stack;
    stack.frames = {Frame{.kind = FrameKind::native, .address = kHeap + ip},
                    Frame{.kind = caller, .address_kind = AddressKind::return_address,
                          .address = kHeap + return_address}};
    name_runtime_code(stack, ModuleView(kImages), heap_);
    EXPECT_EQ(stack.frames[0].kind == FrameKind::stub, !stack.frames[0].name.empty());
    return stack.frames[0].name;
  };
  const auto put_call = [&](std::uint32_t at, std::uint32_t slot) {
    heap_.put(at, {0xFF, 0x15});
    heap_.put32(at + 2, slot - (at + 6));
  };
  put_call(0x820, 0x9F0);
  heap_.put64(0x9F0, kHeap + 0x100);
  EXPECT_EQ(kind(0x100, 0x826), "helper");
  EXPECT_EQ(kind(0x108, 0x826), "helper");
  EXPECT_EQ(kind(0x140, 0x826), "") << "too far behind the slot's target";
  EXPECT_EQ(kind(0xFF, 0x826), "") << "before the slot's target";
  EXPECT_EQ(kind(0x100, 0x826, FrameKind::native), "");
  EXPECT_EQ(kind(0x100, 0x827), "") << "no call ends there";
  put_call(0x840, 0xAF0);
  heap_.put64(0xAF0, kHeap + 0x100);
  EXPECT_EQ(kind(0x100, 0x846), "") << "the slot is in another image";
  put_call(0xA20, 0xAF0);
  EXPECT_EQ(kind(0x100, 0xA26), "") << "an image without code compiled ahead of time";
  put_call(0x860, 0x2000);
  EXPECT_EQ(kind(0x100, 0x866), "") << "a slot that cannot be read";
}

TEST_F(RuntimeCodeTest, ImportThunksAreInImages) {
  heap_.put(0x100, {0x33, 0xC0, 0x6A, 4, 0xFF, 0x35, 0xD6, 0xC4, 0x0B, 0, 0xFF, 0x25, 0xE0, 0xC4, 0x0B, 0});
  heap_.put(0x110, {0x6A, 4, 0xFF, 0x35, 0xC8, 0xC4, 0x0B, 0, 0xFF, 0x25, 0xD2, 0xC4, 0x0B, 0, 0xCC, 0xCC});
  heap_.put(0x120, {0x49, 0x8B, 0xC3, 0x6A, 1, 0xFF, 0x35, 0xB5, 0xC4, 0x0B, 0, 0xFF, 0x25, 0xBF, 0xC4, 0x0B, 0, 0xCC});
  for (const std::uint32_t offset : {0x100, 0x10A, 0x110, 0x118, 0x120, 0x12B, 0x131, 0x140}) {
    Stack stack;
    stack.frames = {Frame{.kind = FrameKind::stub, .address = kHeap + offset, .module = 0}};
    name_runtime_code(stack, ModuleView(), heap_);
    EXPECT_EQ(stack.frames[0].name, offset < 0x131 ? "import thunk" : "") << offset;
    stack.frames = {Frame{.kind = FrameKind::native, .address = kHeap + offset}};
    name_runtime_code(stack, ModuleView(), heap_);
    EXPECT_EQ(stack.frames[0].kind, FrameKind::native) << "code of another kind may look so";
  }
}

TEST_F(RuntimeCodeTest, CodeThatIsCut) {
  heap_.put(0xFF0, {0x48, 0x89, 0x11, 0x4C, 0x8B, 0xC1, 0x48});
  EXPECT_EQ(at(0xFF0), "") << "what follows is no write barrier";
  put_stub(0xFF0, 0x5000'0000, 0x40,
           {0x48, 0x8B, 0xC4, 0x4D, 0x8B, 0x53, 0x20, 0x49, 0x83, 0xC3, 0x20, 0x41, 0xFF, 0xE2});
  EXPECT_EQ(at(0xFF0), "") << "the header says that there is more";
}

// No address is before 0, and none behind the last one.
TEST(RuntimeCode, AtTheEndsOfTheAddresses) {
  BuiltMemory top(~std::uint64_t{0xFF}, 0x100);
  top.put(0xF8, {0x48, 0x89, 0x11, 0x0F, 0x1F, 0, 0x48, 0xB8});
  EXPECT_EQ(runtime_code_kind(~std::uint64_t{0}, top), "write barrier");
  BuiltMemory bottom(0, 0x100);
  bottom.put(0, {0x48, 0x89, 0x11, 0x0F, 0x1F, 0, 0x48, 0xB8});
  EXPECT_EQ(runtime_code_kind(0x10, bottom), "write barrier");
  bottom.put(0, {0});
  EXPECT_EQ(runtime_code_kind(0x10, bottom), "");
}

TEST_F(RuntimeCodeTest, MemoryThatCannotBeRead) {
  EXPECT_EQ(at(0x2000), "");
  EXPECT_EQ(runtime_code_kind(3, heap_), "");
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
  name_runtime_code(stack, ModuleView(), heap_);
  EXPECT_EQ(stack.frames[0].kind, FrameKind::stub);
  EXPECT_EQ(stack.frames[0].name, "write barrier");
  EXPECT_EQ(stack.frames[1].kind, FrameKind::native);
  EXPECT_EQ(stack.frames[2].kind, FrameKind::native);
  EXPECT_EQ(stack.frames[3].kind, FrameKind::managed);
  EXPECT_EQ(stack.frames[4].kind, FrameKind::native);
}

}  // namespace
}  // namespace mixwalk
