#include "unmanaged/image/relocations.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/builders/byte_writer.h"
#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::ImageBuilder;

constexpr std::uint32_t kFirst = ImageBuilder::kCode + 8, kSecond = ImageBuilder::kCode + 0x13;  // of 8 bytes each
constexpr std::uint32_t kTable = ImageBuilder::kMoreCode;
constexpr std::uint16_t kPadding = 0, kOf32Bits = 3 << 12, kOf64Bits = 10 << 12;
constexpr std::uint64_t kMoved = 0x7'0000;

std::vector<std::uint8_t> plain(const ByteWriter& writer) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : writer.bytes()) bytes.push_back(static_cast<std::uint8_t>(byte));
  return bytes;
}

// One block of a table.
ByteWriter block(std::uint32_t page, const std::vector<std::uint16_t>& entries) {
  ByteWriter writer;
  writer.u32(page).u32(static_cast<std::uint32_t>(8 + entries.size() * 2));
  for (const std::uint16_t entry : entries) writer.u16(entry);
  return writer;
}

// An image with two addresses in its code, both 0x1111, and this table, moved by kMoved.
std::vector<std::byte> moved(const ByteWriter& table, std::uint32_t table_bytes) {
  ImageBuilder builder;
  const auto address = plain(ByteWriter().u64(0x1111));
  builder.put_code(kFirst, address).put_code(kSecond, address).put_code(kTable, plain(table));
  std::vector<std::byte> file = builder.build();
  const PeImage image = PeImage::parse(file);
  EXPECT_EQ(image.error(), PeError::none);
  relocate(file, image, {kTable, table_bytes}, image.preferred_base() + kMoved);
  return file;
}
std::vector<std::byte> moved(const ByteWriter& table) {
  return moved(table, static_cast<std::uint32_t>(table.bytes().size()));
}

std::uint64_t at(const std::vector<std::byte>& file, std::uint32_t rva) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + ImageBuilder::offset_of(file, rva), sizeof value);
  return value;
}

TEST(Relocations, MoveTheAddressesThatTheTableNames) {
  const auto file = moved(block(ImageBuilder::kCode, {kOf64Bits | 8, kPadding, kOf64Bits | 0x13}));
  EXPECT_EQ(at(file, kFirst), 0x1111 + kMoved);
  EXPECT_EQ(at(file, kSecond), 0x1111 + kMoved);
}

TEST(Relocations, AddressesThatTheTableDoesNotNameStay) {
  const auto file = moved(block(ImageBuilder::kCode, {kOf64Bits | 8, kOf32Bits | 0x13}));
  EXPECT_EQ(at(file, kSecond), 0x1111u);
}

TEST(Relocations, EachBlockHasItsPage) {
  ByteWriter table = block(ImageBuilder::kMoreCode, {kOf64Bits | 0x40, kPadding});
  table.append(block(ImageBuilder::kCode, {kOf64Bits | 8, kPadding}).bytes());
  EXPECT_EQ(at(moved(table), kFirst), 0x1111 + kMoved);
}

TEST(Relocations, WhatLiesOutsideTheFileIsLeftOut) {
  ByteWriter table = block(0xFFFF'F000, {kOf64Bits | 8, kOf64Bits | 0xFFF});
  table.append(block(ImageBuilder::kCode, {kOf64Bits | 8}).bytes());
  EXPECT_EQ(at(moved(table), kFirst), 0x1111 + kMoved);
}

TEST(Relocations, ABlockThatIsTooShortEndsTheTable) {
  EXPECT_EQ(at(moved(ByteWriter().u32(ImageBuilder::kCode).u32(0).u16(kOf64Bits | 8)), kFirst), 0x1111u);
}

TEST(Relocations, ABlockThatIsTooLongEndsWithTheTable) {
  ByteWriter table;
  table.u32(ImageBuilder::kCode).u32(0xFFFF'FFFF).u16(kOf64Bits | 8).u16(kOf64Bits | 0x13);
  const auto file = moved(table, 10);
  EXPECT_EQ(at(file, kFirst), 0x1111 + kMoved);
  EXPECT_EQ(at(file, kSecond), 0x1111u);
}

TEST(Relocations, ATableOutsideTheFileIsNone) {
  EXPECT_EQ(at(moved(block(ImageBuilder::kCode, {kOf64Bits | 8}), 0xFFFF'FFFF), kFirst), 0x1111u);
}

TEST(Relocations, AnImageAtItsPreferredBaseStaysAsItIs) {
  ImageBuilder builder;
  builder.put_code(kTable, plain(block(ImageBuilder::kCode, {kOf64Bits | 8})));
  std::vector<std::byte> file = builder.build();
  const std::vector<std::byte> before = file;
  const PeImage image = PeImage::parse(file);
  relocate(file, image, {kTable, 10}, image.preferred_base());
  EXPECT_EQ(file, before);
}

}  // namespace
}  // namespace mixwalk
