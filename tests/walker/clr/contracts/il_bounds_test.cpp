#include "walker/clr/contracts/il_bounds.h"

#include <gtest/gtest.h>

#include "tests/builders/byte_writer.h"
#include "walker/clr/contracts/nibble_reader.h"

namespace mixwalk {
namespace {

using test::ByteWriter;

// As il_map_test writes maps: "0-5:prolog 5-9:0".
std::string text_of(const std::optional<std::vector<IlToNative>>& map) {
  if (!map) return "none";
  std::string text;
  for (const IlToNative& entry : *map) {
    text += (text.empty() ? "" : " ") + std::to_string(entry.native_begin) + '-';
    text += (entry.native_end == UINT32_MAX ? "" : std::to_string(entry.native_end)) + ':';
    text += entry.il_offset == IlToNative::kProlog   ? "prolog"
            : entry.il_offset == IlToNative::kEpilog ? "epilog"
            : entry.il_offset == IlToNative::kNoMapping
                ? "none"
                : std::to_string(entry.il_offset);
  }
  return text;
}

TEST(NibbleReaderTest, NumbersOfTheDescription) {
  const auto number = [](std::initializer_list<int> bytes) {
    const auto content = ByteWriter().append(bytes).bytes();
    return NibbleReader(content).number();
  };
  EXPECT_EQ(number({0x00}), 0u);
  EXPECT_EQ(number({0xF7}), 7u);
  EXPECT_EQ(number({0x09}), 8u);
  EXPECT_EQ(number({0x7F}), 63u);
  EXPECT_EQ(number({0xF9, 0x01}), 64u + 1 + 56) << "three nibbles: 1, 7, 1";
  EXPECT_EQ(number({0x89, 0x08}), 512u);
  EXPECT_EQ(number({0x89, 0x18}), 513u);
  EXPECT_EQ(number({0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0x07}), 0xFFFFFFFFu);
}

TEST(NibbleReaderTest, TooLongOrCutOffFails) {
  const auto fails = [](std::initializer_list<int> bytes) {
    const auto content = ByteWriter().append(bytes).bytes();
    NibbleReader reader(content);
    reader.number();
    return reader.failed();
  };
  EXPECT_TRUE(fails({}));
  EXPECT_TRUE(fails({0xFF}));
  EXPECT_TRUE(fails({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x07})) << "33 bits";
  EXPECT_TRUE(fails({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x07}));
  EXPECT_FALSE(fails({0x07}));
}

// .NET 9: 3 entries, each a distance, the IL offset + 3, and the kind of the place. The last IL offset is 16 (19 takes
// two nibbles: 2 and 3), at 4 + 6.
TEST(IlBoundsTest, Nibbles) {
  const auto bytes = ByteWriter().append({0x03, 0x21, 0x34, 0x62, 0x3A, 0x02}).bytes();
  EXPECT_EQ(text_of(read_il_bounds(bytes, IlBoundsForm::nibbles, 100)), "0-4:prolog 4-10:0 10-:16");
  EXPECT_EQ(text_of(read_il_bounds(bytes, IlBoundsForm::nibbles, 9)), "none") << "beyond the end of the code";
  const auto cut = std::span(bytes).first(4);
  EXPECT_EQ(text_of(read_il_bounds(cut, IlBoundsForm::nibbles, 100)), "none");
}

// .NET 10: 3 entries with distances of 4 bits (3 + 1) and IL offsets of 5 bits (4 + 1), behind 2 bits for the kind: 11
// bits each, 33 together.
TEST(IlBoundsTest, Packed) {
  const auto entry = [](std::uint64_t kind, std::uint64_t delta, std::uint64_t il) {
    return kind | delta << 2 | (il + 3) << 6;
  };
  const std::uint64_t bits = (entry(2, 0, -2) & 0x7FF) | entry(3, 9, 0) << 11 | entry(0, 15, 27) << 22;
  auto writer = ByteWriter().append({0x33, 0x04});
  for (int i = 0; i < 5; ++i) writer.u8(bits >> 8 * i & 0xFF);
  EXPECT_EQ(text_of(read_il_bounds(writer.bytes(), IlBoundsForm::packed, 24)), "0-9:prolog 9-24:0 24-:27");
  EXPECT_EQ(text_of(read_il_bounds(writer.bytes(), IlBoundsForm::packed, 23)), "none");
  EXPECT_EQ(text_of(read_il_bounds(std::span(writer.bytes()).first(6), IlBoundsForm::packed, 24)), "none");
}

TEST(IlBoundsTest, PackedWithThreeBitsForTheKind) {
  const std::uint64_t bits = 5u | 0u << 3 | 3u << 5 | (1u | 2u << 3 | 7u << 5) << 9;  // 2 bits of distance, 4 of IL
  const auto bytes = ByteWriter().append({0x12, 0x03}).u8(bits & 0xFF).u8(bits >> 8 & 0xFF).u8(bits >> 16).bytes();
  EXPECT_EQ(text_of(read_il_bounds(bytes, IlBoundsForm::packed_fat, 100)), "0-2:0 2-:4");
}

TEST(IlBoundsTest, FieldsAcrossManyBytesAreWhole) {
  // One entry with the widest fields: 32 bits each (31 is two nibbles: 3, 7).
  auto writer = ByteWriter().append({0xB1, 0xB7, 0x07});
  writer.u32(0x12345678u << 2 | 1).u32(0xCAFE0000u << 2 | 0x12345678u >> 30).u8(0xCAFE0000u >> 30);
  EXPECT_EQ(text_of(read_il_bounds(writer.bytes(), IlBoundsForm::packed, UINT32_MAX)),
            "305419896-:" + std::to_string(0xCAFE0000u - 3));
}

TEST(IlBoundsTest, AFalseCountTakesNoMemory) {
  // Some thousand million entries, of which there is none.
  const auto bytes = ByteWriter().append({0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x00}).bytes();
  for (const auto form : {IlBoundsForm::nibbles, IlBoundsForm::packed, IlBoundsForm::packed_fat}) {
    EXPECT_EQ(text_of(read_il_bounds(bytes, form, UINT32_MAX)), "none");
  }
  EXPECT_EQ(text_of(read_il_bounds({}, IlBoundsForm::packed, 1)), "none");
}

std::string place_of(std::initializer_list<int> header, IlBoundsForm form) {
  const auto bytes = ByteWriter().append(header).bytes();
  const auto place = find_il_bounds(bytes, form);
  return place ? std::to_string(place->offset) + '+' + std::to_string(place->bytes) : "none";
}

TEST(IlBoundsTest, PlaceOfTheMap) {
  EXPECT_EQ(place_of({0x75}, IlBoundsForm::nibbles), "1+5");
  EXPECT_EQ(place_of({0x89, 0x08, 0x1F}, IlBoundsForm::packed), "3+512") << "the variables: 57";
  EXPECT_EQ(place_of({0x75}, IlBoundsForm::packed_fat), "1+5");
  EXPECT_EQ(place_of({0xFF}, IlBoundsForm::packed), "none");
}

// The map of the original IL comes second.
TEST(IlBoundsTest, PlaceOfTheOriginalsMap) {
  EXPECT_EQ(place_of({0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0x57, 0x26}, IlBoundsForm::packed), "12+6");
  EXPECT_EQ(place_of({0xFB, 0xFF, 0xFF, 0xFF, 0xFF, 0x57, 0x20}, IlBoundsForm::packed), "7+5") << "there is only one";
  EXPECT_EQ(place_of({0x50, 0x62, 0x00, 0x00}, IlBoundsForm::packed_fat), "11+6");
}

}  // namespace
}  // namespace mixwalk
