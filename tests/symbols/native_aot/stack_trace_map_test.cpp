#include "symbols/native_aot/stack_trace_map.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/builders/debug_image_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/symbols/native_aot/native_aot_builder.h"

namespace mixwalk {
namespace {

using test::DebugImageBuilder;
using test::NativeAotBuilder;

constexpr std::uint32_t kMapRva = 0x5000;

StackTraceMap map_of(const NativeAotBuilder& built, const std::vector<std::byte>& map, unsigned kind_bits = 7) {
  return StackTraceMap({built.metadata(), map, kMapRva, kind_bits});
}

NativeAotBuilder sample(unsigned kind_bits = 7) { return test::sample_native_aot(kMapRva, kind_bits); }

TEST(StackTraceMapTest, NamesOfMethods) {
  for (const unsigned kind_bits : {7u, 8u}) {
    const NativeAotBuilder built = sample(kind_bits);
    const auto bytes = built.map();
    const StackTraceMap map = map_of(built, bytes, kind_bits);
    EXPECT_EQ(map.size(), 5u);
    constexpr const char* kAdd =
        "Company.Orders.Client.Add(!0, ref System.Int32[], System.List<System.Int32>, System.Int32[,])";
    EXPECT_EQ(map.name_at(0x1000), kAdd);
    EXPECT_EQ(map.name_at(0x1100), kAdd);
    EXPECT_EQ(map.name_at(0x1200), "Company.Orders.Client+<>c.<Main>b__0()");
    EXPECT_EQ(map.name_at(0x1300), "Company.Orders.Client.Map<TKey,TValue>(TKey)");
    EXPECT_EQ(map.name_at(0x1400), "");
    EXPECT_EQ(map.name_at(0x1001), "");
  }
}

TEST(StackTraceMapTest, CutOffOrWrongAnywhereIsNoCrash) {
  const NativeAotBuilder built = sample();
  const auto map = built.map(), metadata = built.metadata();
  const auto read = [](std::span<const std::byte> metadata, std::span<const std::byte> map) {
    const StackTraceMap damaged({metadata, map, kMapRva, 7});
    for (std::uint32_t rva = 0x1000; rva <= 0x1400; rva += 0x100) damaged.name_at(rva);
    return damaged.size();
  };
  EXPECT_FALSE(map_of(built, map).damaged());
  for (std::size_t i = 0; i < map.size(); ++i) {
    EXPECT_LT(read(metadata, std::span(map).first(i)), 5u);
    EXPECT_TRUE(map_of(built, {map.begin(), map.begin() + static_cast<std::ptrdiff_t>(i)}).damaged());
    for (const int value : {0x00, 0x7F, 0xFF}) {
      auto damaged = map;
      damaged[i] = static_cast<std::byte>(value);
      read(metadata, damaged);
    }
  }
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    read(std::span(metadata).first(i), map);
    for (const int value : {0x00, 0x3F, 0x7F, 0xFF}) {
      auto damaged = metadata;
      damaged[i] = static_cast<std::byte>(value);
      read(damaged, map);
    }
  }
}

// A type that is its own enclosing type, and a list of types that contains itself.
TEST(StackTraceMapTest, TypesInThemselvesHaveNoName) {
  NativeAotBuilder built;
  const std::uint32_t name = built.text("T");
  const auto own = static_cast<std::uint32_t>(built.metadata().size());
  const NativeAotBuilder::Handle type =
      built.record(NativeAotBuilder::type_definition, {{0, 1}, {0, 0}, {0, 0}, {0, name}, {0, 0}, {0, 0}, {0, own}});
  built.method(0, type, name, built.signature({}));
  const auto map = built.map();
  EXPECT_EQ(map_of(built, map).name_at(kMapRva + 4), "");
}

// An image whose section .data has the header, the metadata and the map.
std::vector<std::byte> image(std::uint16_t major, std::uint32_t map_section = 327) {
  constexpr std::uint64_t kData = DebugImageBuilder::kImageBase + 0x2000;
  const NativeAotBuilder built = sample(major == 16 ? 7 : 8);
  const auto metadata = built.metadata(), map = built.map();
  test::TableWriter data;
  data.u64(0).u32(0x00525452).u16(major).u16(0).u32(0).u16(2).u8(24).u8(1);
  const std::uint64_t begin = kData + 0x100, end = begin + metadata.size();
  data.u32(313).u32(0).u64(begin).u64(end).u32(map_section).u32(0).u64(end).u64(end + map.size());
  data.bytes(std::vector<std::uint8_t>(0x100 - data.size()));
  for (const std::byte one : metadata) data.u8(std::to_integer<unsigned>(one));
  for (const std::byte one : map) data.u8(std::to_integer<unsigned>(one));
  DebugImageBuilder builder;
  builder.section(".data", data.data());
  return builder.build();
}

TEST(StackTraceMapTest, IsFoundInTheImage) {
  for (const std::uint16_t major : {9, 10, 16}) {
    const auto file = image(major);
    const PeImage parsed = PeImage::parse(file);
    ASSERT_EQ(parsed.error(), PeError::none);
    const auto parts = StackTraceMap::find(parsed);
    ASSERT_TRUE(parts) << major;
    EXPECT_EQ(StackTraceMap(*parts).size(), 5u);
  }
}

TEST(StackTraceMapTest, ImagesWithoutIt) {
  const auto without = image(16, 326);  // built with StackTraceSupport=false
  const auto parts = StackTraceMap::find(PeImage::parse(without));
  ASSERT_TRUE(parts);
  EXPECT_TRUE(StackTraceMap(*parts).empty());
  EXPECT_FALSE(StackTraceMap::find(PeImage::parse(image(17)))) << "an unknown version";
  EXPECT_FALSE(StackTraceMap::find(PeImage::parse(test::ImageBuilder().build())));
  const auto whole = image(16);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    StackTraceMap::find(PeImage::parse(std::span(whole).first(size)));
  }
}

// The handlers of exceptions of a method have entries of .pdata behind the method's.
TEST(StackTraceMapTest, HandlersHaveTheNameOfTheirMethod) {
  constexpr std::uint32_t kCode = test::ImageBuilder::kCode;
  test::ImageBuilder builder;
  // UNWIND_INFO without codes, and with one; behind it, what the code is.
  builder.put_code(kCode + 0xC0, {1, 0, 0, 0, 0}).put_code(kCode + 0xD0, {1, 0, 1, 0, 0, 0, 1});
  builder.raw_function(kCode, kCode + 0x10, kCode + 0xC0).raw_function(kCode + 0x10, kCode + 0x20, kCode + 0xD0);
  builder.raw_function(kCode + 0x20, kCode + 0x30, kCode + 0xC0);  // a method that the map does not name
  builder.raw_function(kCode + 0x30, kCode + 0x40, kCode + 0xD0).raw_function(kCode + 0x40, kCode + 0x50, kCode + 0xC0);
  builder.raw_function(kCode + 0x50, kCode + 0x60, kCode + 0xD0);  // behind the last method
  NativeAotBuilder built;
  const auto type = built.type("C", built.space("N"));
  const auto at = [](std::uint32_t rva) { return static_cast<std::int32_t>(rva - kMapRva - 4); };
  built.method(at(kCode), type, built.text("F"), built.signature({}));
  built.method(at(kCode + 0x40), type, built.text("G"), built.signature({}));
  const auto bytes = built.map();
  StackTraceMap map = map_of(built, bytes);
  const auto file = builder.build();
  map.add_handlers(PeImage::parse(file), file);
  EXPECT_EQ(map.name_at(kCode), "N.C.F()");
  EXPECT_EQ(map.name_at(kCode + 0x10), "N.C.F()");
  for (const std::uint32_t offset : {0x20u, 0x30u, 0x50u}) EXPECT_EQ(map.name_at(kCode + offset), "") << offset;
  EXPECT_EQ(map.name_at(kCode + 0x40), "N.C.G()");
}

// MIXWALK_NATIVE_AOT names a program for Windows that NativeAOT made; MIXWALK_NATIVE_AOT_NAMES a file for its names.
TEST(StackTraceMapTest, ProgramOnRequest) {
  const char* const path = std::getenv("MIXWALK_NATIVE_AOT");
  if (path == nullptr) GTEST_SKIP() << "on request: MIXWALK_NATIVE_AOT";
  std::ifstream in(path, std::ios::binary);
  std::vector<char> read{std::istreambuf_iterator<char>(in), {}};
  const auto file = std::as_bytes(std::span(read));
  const PeImage parsed = PeImage::parse(file);
  ASSERT_EQ(parsed.error(), PeError::none);
  const auto parts = StackTraceMap::find(parsed);
  ASSERT_TRUE(parts);
  StackTraceMap map(*parts);
  map.add_handlers(parsed, file);
  std::ofstream out;
  if (const char* const names = std::getenv("MIXWALK_NATIVE_AOT_NAMES")) out.open(names);
  std::size_t named = 0;
  for (const PeImage::Function& function : parsed.functions()) {
    const std::string name = map.name_at(function.begin);
    named += !name.empty();
    if (!name.empty()) out << std::hex << function.begin << ' ' << name << '\n';
  }
  std::cout << map.size() << " methods in the map; of " << parsed.functions().size() << " functions " << named
            << " have a name\n";
  EXPECT_GT(named, map.size() * 95 / 100);
}

}  // namespace
}  // namespace mixwalk
