#include "walker/clr/contracts/method_il.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "symbols/metadata/image_metadata.h"
#include "tests/builders/assembly_builder.h"
#include "tests/builders/byte_writer.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/metadata_builder.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using Kind = ClrIlStep::Kind;

std::vector<ClrIlStep> steps_of(const MethodIl& il) {
  static const std::vector<std::byte> kMetadata = test::sample_metadata().build();
  static const ByteMemory kMemory{kMetadata};
  auto tables = metadata_at(kMemory, 0, kMetadata.size());
  return il_steps(il, MetadataNames(std::move(*tables)));
}
std::vector<ClrIlStep> steps_of(const ByteWriter& code) { return steps_of({code.bytes(), {}}); }

TEST(IlSteps, NameWhatIsLoadedAndCalled) {
  const auto steps = steps_of(ByteWriter()
                                  .u8(0x02)                      // ldarg.0
                                  .u8(0x7B).u32(0x0400'0001)     // ldfld _items
                                  .u8(0x6F).u32(0x0600'0002)     // callvirt Add
                                  .u8(0x7E).u32(0x0400'0002)     // ldsfld _count
                                  .u8(0x11).u8(4).u8(0x0B)       // ldloc.s 4, stloc.1
                                  .u8(0x1F).u8(0xFE).u8(0x16));  // ldc.i4.s -2, ldc.i4.0
  EXPECT_EQ(steps, (std::vector<ClrIlStep>{{Kind::load_argument, 0, 1, 0, ""},
                                           {Kind::load_field, 1, 6, 0, "_items"},
                                           {Kind::call, 6, 11, 2, "Shop.Orders`1.Add", true},
                                           {Kind::load_static, 11, 16, 0, "Shop.Orders`1._count"},
                                           {Kind::load_local, 16, 18, 4, ""},
                                           {Kind::store_local, 18, 19, 1, ""},
                                           {Kind::constant, 19, 21, -2, ""},
                                           {Kind::constant, 21, 22, 0, ""}}));
}

TEST(IlSteps, AnArgumentIsSetOrItsAddressTaken) {
  const auto steps = steps_of(ByteWriter()
                                  .u8(0x10).u8(1)                // starg.s 1
                                  .u8(0x0F).u8(2)                // ldarga.s 2
                                  .u8(0xFE).u8(0x0B).u16(300)    // starg 300
                                  .u8(0xFE).u8(0x0A).u16(301));  // ldarga 301
  EXPECT_EQ(steps, (std::vector<ClrIlStep>{{Kind::store_argument, 0, 2, 1, ""},
                                           {Kind::store_argument, 2, 4, 2, ""},
                                           {Kind::store_argument, 4, 8, 300, ""},
                                           {Kind::store_argument, 8, 12, 301, ""}}));
}

TEST(IlSteps, BranchesLeadToOffsets) {
  const ByteWriter code = ByteWriter().u8(0x2D).u8(3).u8(0x38).u32(0xFFFF'FFF9).u8(0x45).u32(2).u32(1).u32(0xFFFF'FFFF);
  std::vector<ClrIlStep> branches = steps_of({code.bytes(), {{3, 12}}});
  std::erase_if(branches, [](const ClrIlStep& step) { return step.kind != Kind::branch && step.kind != Kind::handler; });
  EXPECT_EQ(branches, (std::vector<ClrIlStep>{{Kind::branch, 0, 2, 5, ""},
                                              {Kind::branch, 2, 7, 0, ""},
                                              {Kind::branch, 7, 7, 21, ""},
                                              {Kind::branch, 7, 7, 19, ""},
                                              {Kind::handler, 3, 3, 12, ""}}));
}

TEST(IlSteps, EndBeforeWhatIsNoInstruction) {
  EXPECT_EQ(steps_of(ByteWriter().u8(0x02).u8(0xFF).u8(0x02)).size(), 1u);
  EXPECT_EQ(steps_of(ByteWriter().u8(0x02).u8(0x28).u16(1)).size(), 1u);  // a call that is cut off
  EXPECT_EQ(steps_of(ByteWriter().u8(0x45).u32(0xFFFF'FFFF)).size(), 0u);
  EXPECT_EQ(steps_of(ByteWriter().u8(0x45).u32(4000)).size(), 0u);
  EXPECT_EQ(steps_of(ByteWriter().u8(0xFE)).size(), 0u);
  for (std::uint32_t code = 0; code < 256; ++code) {
    for (const std::uint8_t prefix : {0x00, 0xFE}) {
      steps_of(ByteWriter().u8(prefix).u8(static_cast<std::uint8_t>(code)).u32(0x0A00'0001).u32(0x2B00'0001));
    }
  }
}

// An assembly as the system loads it, and the body of a method behind it.
MethodIl body(const ByteWriter& bytes) {
  const std::vector<std::byte> file = test::assembly_file({});
  const std::size_t code = test::ImageBuilder::offset_of(file, test::kCliHeaderAt);
  std::vector<std::byte> image(test::kCliHeaderAt);
  std::copy_n(file.begin(), 0x200, image.begin());
  image.insert(image.end(), file.begin() + static_cast<std::ptrdiff_t>(code), file.end());
  image.resize((image.size() + 3) & ~std::size_t{3});
  const auto rva = static_cast<std::uint32_t>(image.size());
  const std::vector<std::byte> added = bytes.bytes();
  image.insert(image.end(), added.begin(), added.end());
  const ByteMemory memory(image);
  return method_il(memory, 0x0, rva);
}

std::vector<std::byte> code(std::initializer_list<std::uint8_t> values) {
  std::vector<std::byte> bytes;
  for (const std::uint8_t value : values) bytes.push_back(std::byte{value});
  return bytes;
}

TEST(MethodIlTest, OfAShortMethod) {
  EXPECT_EQ(body(ByteWriter().u8(2 << 2 | 2).u8(0x02).u8(0x2A)).code, code({0x02, 0x2A}));
}

TEST(MethodIlTest, OfALongMethodHasItsHandlers) {
  const ByteWriter header = ByteWriter().u16(0x300B).u16(8).u32(3).u32(0).u8(0x02).u8(0x00).u8(0x2A).u8(0);
  ByteWriter small = header, fat = header;
  // Flags, what is protected and its length, the handler and its length, the type.
  small.u8(1).u8(16).u16(0).u16(2).u16(1).u8(4).u16(9).u8(2).u32(0);
  MethodIl il = body(small);
  EXPECT_EQ(il.code, code({0x02, 0x00, 0x2A}));
  ASSERT_EQ(il.handlers.size(), 1u);
  EXPECT_EQ(il.handlers[0].protects, 1u);
  EXPECT_EQ(il.handlers[0].begin, 9u);
  fat.u32(0x41 | 28 << 8).u32(2).u32(1).u32(4).u32(9).u32(2).u32(0);
  il = body(fat);
  ASSERT_EQ(il.handlers.size(), 1u);
  EXPECT_EQ(il.handlers[0].protects, 1u);
  EXPECT_EQ(il.handlers[0].begin, 9u);
}

TEST(MethodIlTest, ThatIsNoneIsEmpty) {
  EXPECT_TRUE(body(ByteWriter().u8(0x0A)).code.empty());                               // cut off
  EXPECT_TRUE(body(ByteWriter().u16(0x300B).u16(8).u32(0xFFFF'FFFF).u32(0)).code.empty());  // huge
  EXPECT_TRUE(body(ByteWriter().u16(0x100B).u16(8).u32(1).u32(0).u8(0)).code.empty());
  EXPECT_TRUE(body(ByteWriter().u8(1).u8(0)).code.empty());
  const std::vector<std::byte> nothing(64);
  const ByteMemory memory(nothing);
  EXPECT_TRUE(method_il(memory, 8, 16).code.empty());
}

}  // namespace
}  // namespace mixwalk
