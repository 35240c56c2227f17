#include "symbols/calls/function_exits.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

FunctionExits exits_of_built(ImageBuilder& builder, std::uint32_t entry = kCode) {
  const std::vector<std::byte> bytes = builder.build();
  Disassembler disassembler;
  return exits_of(PeImage::parse(bytes), entry, disassembler);
}

// Returns the exits of a function with unwind data at kCode that consists of these bytes.
FunctionExits of_function(const Bytes& code) {
  ImageBuilder builder;
  builder.put_code(kCode, code).function(kCode, kCode + static_cast<std::uint32_t>(code.size()));
  return exits_of_built(builder);
}

FunctionExits of_leaf(const Bytes& code) {
  ImageBuilder builder;
  builder.put_code(kCode, code).function(kCode + 0x80, kCode + 0x90);
  return exits_of_built(builder);
}

TEST(FunctionExits, FunctionThatReturnsKeepsToItself) {
  const FunctionExits exits = of_function({0x74, 0x01, 0x90, 0xC3});  // je +1; nop; ret
  EXPECT_TRUE(exits.code.empty() && exits.slots.empty());
  EXPECT_FALSE(exits.unknown);
}

TEST(FunctionExits, TailCallsAndFurtherPartsAreExits) {
  // je 0x20 on; jmp 0x40 on; jmp [rip + 0x100]
  const FunctionExits exits = of_function({0x0F, 0x84, 0x20, 0, 0, 0, 0xE9, 0x40, 0, 0, 0,  //
                                           0xFF, 0x25, 0, 1, 0, 0});
  EXPECT_EQ(exits.code, (std::vector<std::uint32_t>{kCode + 0x26, kCode + 0x4B}));
  EXPECT_EQ(exits.slots, (std::vector<std::uint32_t>{kCode + 0x111}));
  EXPECT_FALSE(exits.unknown);
}

TEST(FunctionExits, LoopsBranchAndFailFastEnds) {
  EXPECT_EQ(of_function({0xE3, 0x20, 0xC3}).code, (std::vector<std::uint32_t>{kCode + 0x22}));  // jrcxz
  EXPECT_EQ(of_function({0xE2, 0x20, 0xC3}).code, (std::vector<std::uint32_t>{kCode + 0x22}));  // loop
  EXPECT_FALSE(of_leaf({0xCD, 0x29, 0x06}).unknown) << "int 29h; what follows is no instruction";
}

TEST(FunctionExits, JumpThroughARegisterIsUnknown) { EXPECT_TRUE(of_function({0xFF, 0xE0}).unknown); }

TEST(FunctionExits, BytesThatAreNoInstructionAreUnknown) { EXPECT_TRUE(of_function({0x06, 0xC3}).unknown); }

TEST(FunctionExits, CodeThatRunsOnGoesToWhatFollows) {
  EXPECT_EQ(of_function({0x90, 0x90}).code, (std::vector<std::uint32_t>{kCode + 2}));
}

// The thunk of "retpoline" builds is: a call over the loop; the loop; mov [rsp], rax; ret.
TEST(FunctionExits, MadeReturnAddressIsUnknown) {
  EXPECT_TRUE(of_function({0x48, 0x89, 0x04, 0x24, 0xC3}).unknown);                    // mov [rsp], rax; ret
  EXPECT_TRUE(of_function({0x48, 0x89, 0x04, 0x24, 0x0F, 0xAE, 0xE8, 0xC3}).unknown);  // lfence between
  EXPECT_TRUE(of_function({0x50, 0xC3}).unknown);                                      // push rax; ret
  EXPECT_TRUE(of_function({0x48, 0x89, 0xCC, 0xC3}).unknown);                          // mov rsp, rcx; ret
  EXPECT_FALSE(of_function({0x48, 0x89, 0x44, 0x24, 8, 0xC3}).unknown);  // mov [rsp + 8], rax; ret
}

TEST(FunctionExits, ThunkWithoutUnwindDataEndsWithItsJump) {
  // The code is: lea rax, [rip]; jmp 0x10 on; after that, bytes that are not an instruction.
  const FunctionExits exits = of_leaf({0x48, 0x8D, 0x05, 0, 0, 0, 0, 0xE9, 0x10, 0, 0, 0, 0x06});
  EXPECT_EQ(exits.code, (std::vector<std::uint32_t>{kCode + 0x1C}));
  EXPECT_FALSE(exits.unknown);
}

TEST(FunctionExits, LeafCodeThatReachesTheNextFunctionIsUnknown) {
  EXPECT_TRUE(of_leaf({}).unknown);  // nops up to the end
  ImageBuilder builder;
  builder.function(kCode + 0x80, kCode + 0x90).put_code(kCode + 0x84, {0xC3});
  EXPECT_TRUE(exits_of_built(builder).unknown) << "the return is that of the next function";
}

TEST(FunctionExits, LeafCodeLongerThanRealOnesIsUnknown) {
  ImageBuilder builder;
  builder.put_code(kCode + 0xFF, {0xC3});
  EXPECT_FALSE(exits_of_built(builder).unknown);
  builder.put_code(kCode + 0xFF, {0x90, 0xC3});
  EXPECT_TRUE(exits_of_built(builder).unknown);
}

TEST(FunctionExits, MoreExitsThanAnyFunctionHasAreUnknown) {
  const auto with_exits = [](std::size_t count) {
    Bytes code;
    for (std::size_t i = 0; i < count; ++i) {
      // Each je leads to another place behind the function; the distance counts from the end of the je.
      const auto distance = static_cast<std::uint32_t>(0x1000 + i);
      code.insert(code.end(), {0x0F, 0x84, static_cast<std::uint8_t>(distance),
                               static_cast<std::uint8_t>(distance >> 8), 0, 0});
    }
    code.push_back(0xC3);
    return of_function(code);
  };
  EXPECT_EQ(with_exits(256).code.size(), 256u);
  EXPECT_FALSE(with_exits(256).unknown);
  EXPECT_EQ(with_exits(257).code.size(), 256u);
  EXPECT_TRUE(with_exits(257).unknown);
}

TEST(FunctionExits, PlaceThatIsNoCodeIsUnknown) {
  ImageBuilder builder;
  EXPECT_TRUE(exits_of_built(builder, ImageBuilder::kData).unknown);
  EXPECT_TRUE(exits_of_built(builder, UINT32_MAX).unknown);
}

}  // namespace
}  // namespace mixwalk
