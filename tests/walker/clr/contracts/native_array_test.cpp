#include "walker/clr/contracts/native_array.h"

#include <gtest/gtest.h>

#include "tests/builders/byte_writer.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using test::ByteWriter;

std::optional<std::uint32_t> number(const std::vector<std::byte>& bytes, std::uint64_t length) {
  const auto read = read_native_number(ByteMemory(bytes), 0);
  if (read) {
    EXPECT_EQ(read->next, length);
  }
  return read ? std::optional(read->value) : std::nullopt;
}

TEST(NativeArrayTest, NumbersOfEveryLength) {
  EXPECT_EQ(number(ByteWriter().u8(0x7F << 1).bytes(), 1), 0x7Fu);
  EXPECT_EQ(number(ByteWriter().u16(0x3ABC << 2 | 1).bytes(), 2), 0x3ABCu);
  EXPECT_EQ(number(ByteWriter().u16(0x1234).u8(0).bytes(), 1), 0x1Au);
  EXPECT_EQ(number(ByteWriter().u8((0x1ABCDE << 3 | 3) & 0xFF).u16((0x1ABCDE << 3 | 3) >> 8).bytes(), 3), 0x1ABCDEu);
  EXPECT_EQ(number(ByteWriter().u32(0x0ABCDEF1u << 4 | 7).bytes(), 4), 0x0ABCDEF1u);
  EXPECT_EQ(number(ByteWriter().u8(0x0F).u32(0xFEDCBA98).bytes(), 5), 0xFEDCBA98u);
  EXPECT_EQ(number(ByteWriter().u8(0xFF).u64(0).bytes(), 0), std::nullopt);
  EXPECT_EQ(number(ByteWriter().u8(0x03).u8(1).bytes(), 0), std::nullopt) << "cut off";
  EXPECT_EQ(number({}, 0), std::nullopt);
}

// An array of 32 elements with an index of one byte for each block of 16. Block 0 has the elements 0, 5 and 15; block 1
// has only element 16 + 9.
TEST(NativeArrayTest, ElementsOfATree) {
  ByteWriter array;
  array.u8((((32 << 2) << 2) & 0xFF) | 1).u8((32 << 2) >> 6);  // 32 elements, entries of one byte: a number of 2 bytes
  const std::uint64_t base = array.size();
  array.u8(2).u8(30);  // where each block begins, from here on
  // Each node: bit 0, something follows for a bit of 0; bit 1, something is at the distance above, for a bit of 1.
  array.u8((10 << 2 | 3) << 1);       // at 2: bit 8: both; 1 is 10 bytes on, at 12
  array.u8((4 << 2 | 3) << 1);        // at 3: bit 4: both; 1 is at 7
  array.u8((0 << 2) << 1).u8(0xA0);   // at 4: only element 0, whose content is at 5
  array.zeros(1);
  array.u8((5 << 2) << 1).u8(0xA5);   // at 7: only element 5, whose content is at 8
  array.zeros(3);
  array.u8((2 << 2 | 2) << 1).u8(0);  // at 12: bit 4: only 1, at 14
  array.u8((2 << 2 | 2) << 1).u8(0);  // at 14: bit 2: only 1, at 16
  array.u8((2 << 2 | 2) << 1).u8(0);  // at 16: bit 1: only 1, at 18: the content of element 15
  array.u8(0xAF);
  array.zeros(base + 30 - array.size());
  array.u8((9 << 2) << 1).u8(0xB9);   // at 30: only element 9 of the block
  const ByteMemory memory(array.bytes());
  const auto content = [&](std::uint32_t index) -> int {
    const auto at = find_in_native_array(memory, 0, index);
    return at ? memory.read_value<std::uint8_t>(*at).value_or(0) : -1;
  };
  EXPECT_EQ(content(0), 0xA0);
  EXPECT_EQ(content(5), 0xA5);
  EXPECT_EQ(content(15), 0xAF);
  EXPECT_EQ(content(25), 0xB9);
  for (const std::uint32_t missing : {1u, 4u, 8u, 14u, 16u, 24u, 31u, 32u, ~0u}) {
    EXPECT_EQ(content(missing), -1) << missing;
  }
}

}  // namespace
}  // namespace mixwalk
