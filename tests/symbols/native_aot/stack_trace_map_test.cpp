#include "symbols/native_aot/stack_trace_map.h"

#include <gtest/gtest.h>

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
    const bool damaged = map_of(built, {map.begin(), map.begin() + static_cast<std::ptrdiff_t>(i)}).damaged();
    EXPECT_EQ(damaged, i != 0) << i;  // without any byte there is no map
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

// The compiler may give two methods the same code. Which of them runs is not known then.
TEST(StackTraceMapTest, CodeOfTwoMethodsHasNoName) {
  NativeAotBuilder built;
  const auto type = built.type("C", built.space("N"));
  const std::uint32_t f = built.text("F"), g = built.text("G"), plain = built.signature({});
  const auto at = [](std::uint32_t rva) { return static_cast<std::int32_t>(rva - kMapRva - 4); };
  built.method(at(0x1000), type, f, plain);
  built.method(at(0x1000), type, g, plain);
  built.method(at(0x1100), type, g, plain);
  built.again(at(0x1100));
  built.method(at(0x1200), type, f, plain);
  built.method(at(0x1200), {}, 0, 0);  // hidden from stack traces
  const auto bytes = built.map();
  const StackTraceMap map = map_of(built, bytes);
  EXPECT_EQ(map.name_at(0x1000), "");
  EXPECT_EQ(map.name_at(0x1100), "N.C.G()") << "it is the same method";
  EXPECT_EQ(map.name_at(0x1200), "");
  EXPECT_FALSE(map.damaged());
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
  map.add_code(PeImage::parse(file), file);
  EXPECT_EQ(map.name_at(kCode), "N.C.F()");
  EXPECT_EQ(map.name_at(kCode + 0x10), "N.C.F()");
  for (const std::uint32_t offset : {0x20u, 0x30u, 0x50u}) EXPECT_EQ(map.name_at(kCode + offset), "") << offset;
  EXPECT_EQ(map.name_at(kCode + 0x40), "N.C.G()");
}

constexpr std::uint32_t kReferences = 0x6000;

StackTraceMap map_of(const test::ReflectionSample& sample, unsigned kind_bits) {
  return StackTraceMap({.metadata = sample.metadata,
                        .map = {},
                        .map_rva = 0,
                        .kind_bits = kind_bits,
                        .reflection = {sample.types, sample.methods, sample.references, kReferences}});
}

// Main, the targets of delegates and whatever reflection may call are not in the map.
TEST(StackTraceMapTest, MethodsThatReflectionMayCall) {
  for (const unsigned kind_bits : {7u, 8u}) {
    const auto sample = test::sample_reflection(kReferences, kind_bits);
    const StackTraceMap map = map_of(sample, kind_bits);
    EXPECT_EQ(map.name_at(0x1500), "Shop.Program.Main()");
    EXPECT_EQ(map.name_at(0x1510), "Shop.Money.Amount()");
    EXPECT_EQ(map.name_at(0x1520), "Shop.Items.Add()") << "the only type with this method";
    EXPECT_EQ(map.name_at(0x1530), "") << "two methods share the code";
    EXPECT_EQ(map.name_at(0x1540), "Shop.Money..ctor()");
    EXPECT_EQ(map.name_at(0x1550), "") << "two types have this method";
    EXPECT_FALSE(map.damaged());
  }
}

// Each entry of a table that has only zeros is two bytes, and leads to more zeros.
TEST(StackTraceMapTest, TableWithFarTooManyEntries) {
  for (const std::uint32_t entries : {1u << 22, (1u << 22) + 1}) {
    test::ByteWriter table;
    table.u8(2).u32(8).u32(8 + 2 * entries);  // one bucket, whose offsets have 4 bytes
    auto bytes = table.bytes();
    bytes.resize(1 + 8 + 2 * entries + 16);
    bool damaged = false;
    EXPECT_TRUE((InvokeMap{.types = {}, .methods = bytes, .references = {}}.rows(damaged).empty()));
    EXPECT_EQ(damaged, entries > 1u << 22);
  }
}

TEST(StackTraceMapTest, ReflectionCutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = test::sample_reflection(kReferences, 7);
  const auto read = [](const test::ReflectionSample& sample) {
    const StackTraceMap map = map_of(sample, 7);
    for (std::uint32_t rva = 0x1500; rva <= 0x1550; rva += 0x10) map.name_at(rva);
    return map.damaged();
  };
  using Part = std::vector<std::byte> test::ReflectionSample::*;
  for (const Part part : {&test::ReflectionSample::metadata, &test::ReflectionSample::types,
                          &test::ReflectionSample::methods, &test::ReflectionSample::references}) {
    for (std::size_t i = 0; i < (whole.*part).size(); ++i) {
      auto sample = whole;
      (sample.*part).resize(i);
      const bool damaged = read(sample);
      if (i != 0 || part == &test::ReflectionSample::metadata) {
        EXPECT_TRUE(damaged) << i;
      }
      for (const int value : {0x00, 0x1F, 0x7F, 0xFF}) {
        sample = whole;
        (sample.*part)[i] = static_cast<std::byte>(value);
        read(sample);
      }
    }
  }
}

// A method that reflection may call: its record, its type, and its code. The table may lack the type, as it does for
// instances of generic types.
struct Reflected {
  std::uint32_t method = 0;
  NativeAotBuilder::Handle type;
  std::uint32_t rva = 0;
  bool has_type = true;
};

test::ReflectionSample reflection_of(const NativeAotBuilder& built, const std::vector<Reflected>& methods) {
  constexpr std::uint32_t kCode = 0x20;
  std::vector<std::vector<std::uint32_t>> types, rows;
  test::ByteWriter references;
  for (const Reflected& one : methods) {
    const auto number = static_cast<std::uint32_t>(rows.size());
    references.u32(one.rva - (kReferences + 4 * number));
    // The number of the type's reference is any that is not used.
    if (one.has_type) types.push_back({100 + number, built.handle_number(one.type)});
    rows.push_back({kCode, one.method, 100 + number, number});
  }
  return {built.metadata(), NativeAotBuilder::table(types), NativeAotBuilder::table(rows), references.bytes()};
}

// Two types have the method, so it is not known whose it is; but some other method runs there too.
TEST(StackTraceMapTest, CodeThatAMethodOfAnUnknownTypeShares) {
  NativeAotBuilder built;
  const auto space = built.space("Shop");
  const std::uint32_t plain = built.signature({});
  const std::uint32_t close = built.method_record("Close", plain), equal = built.method_record("Equal", plain);
  const auto program = built.type_with("Program", space, {close, equal});
  const auto items = built.type_with("Items", space, {equal});
  built.assembly("Orders", {program, items});
  const auto sample = reflection_of(
      built, {{close, program, 0x1500}, {equal, {}, 0x1500, false}, {close, program, 0x1510}, {equal, items, 0x1520}});
  const StackTraceMap map = map_of(sample, 7);
  EXPECT_EQ(map.name_at(0x1500), "");
  EXPECT_EQ(map.name_at(0x1510), "Shop.Program.Close()");
  EXPECT_EQ(map.name_at(0x1520), "Shop.Items.Equal()");
  EXPECT_FALSE(map.damaged());
}

// Behind the damage there may be a second type with the method.
TEST(StackTraceMapTest, NothingIsTheOnlyTypeIfTheMetadataIsDamaged) {
  for (const bool damaged : {false, true}) {
    NativeAotBuilder built;
    const auto space = built.space("Shop");
    const std::uint32_t add = built.method_record("Add", built.signature({}));
    const auto items = built.type_with("Items`1", space, {add});
    std::vector<NativeAotBuilder::Handle> types = {items};
    if (damaged) types.push_back({NativeAotBuilder::type_definition, 0xFFFFFF});
    built.assembly("Orders", types);
    const auto sample = reflection_of(built, {{add, {}, 0x1500, false}, {add, items, 0x1510}});
    const StackTraceMap map = map_of(sample, 7);
    EXPECT_EQ(map.damaged(), damaged);
    EXPECT_EQ(map.name_at(0x1500), damaged ? "" : "Shop.Items.Add()");
    EXPECT_EQ(map.name_at(0x1510), "Shop.Items.Add()") << "the table has its type";
  }
}

// Reflection leads to a stub that makes `this` of a boxed value, and jumps to the method.
TEST(StackTraceMapTest, MethodOfAValueTypeBehindItsStub) {
  constexpr std::uint32_t kCode = test::ImageBuilder::kCode;
  auto sample = test::sample_reflection(kReferences, 7);
  test::ByteWriter references;
  for (std::uint32_t i = 0; i < 6; ++i) references.u32(kCode + 0x10 * i - (kReferences + 4 * i));
  sample.references = references.bytes();
  test::ImageBuilder builder;
  builder.put_code(kCode + 0x10, {0x48, 0x83, 0xC1, 0x08, 0xE9, 0x67, 0, 0, 0});
  builder.put_code(kCode, {0x48, 0x83, 0xC1, 0x08, 0xE9, 0x17, 0, 0, 0});  // to a method that has a name
  const auto file = builder.build();
  StackTraceMap map = map_of(sample, 7);
  map.add_code(PeImage::parse(file), file);
  EXPECT_EQ(map.name_at(kCode + 0x10), "Shop.Money.Amount()");
  EXPECT_EQ(map.name_at(kCode + 0x80), "Shop.Money.Amount()");
  EXPECT_EQ(map.name_at(kCode + 0x20), "Shop.Items.Add()");
}

// Other code may have the bytes of a stub: a method that calls, as the last thing it does, a method of a field, which
// lies 8 bytes into the object.
TEST(StackTraceMapTest, WhatOnlyLooksLikeAStub) {
  constexpr std::uint32_t kCode = test::ImageBuilder::kCode;
  NativeAotBuilder built;
  const auto space = built.space("Shop"), system = built.space("System");
  const std::uint32_t plain = built.signature({});
  const auto method = [&](const char* name, std::uint32_t attributes = NativeAotBuilder::kPublic) {
    return built.method_record(name, plain, attributes);
  };
  const std::uint32_t run = method("Run"), amount = method("Amount"), rest = method("Rest"), has = method("Has"),
                      of = method("Of", NativeAotBuilder::kPublic | NativeAotBuilder::kStatic), show = method("Show");
  const auto value_type = built.type_with("ValueType", system, {});
  const auto base = built.type_with("Enum", system, {has}, {}, value_type);
  const auto program = built.type_with("Program", space, {run}, {}, built.system_type("Object"));
  const auto money = built.type_with("Money", space, {amount, rest, of}, {}, value_type);
  const auto color = built.type_with("Color", space, {show}, {}, base);
  built.assembly("Orders", {value_type, base, program, money, color});
  const auto stub = [](std::uint32_t number) { return kCode + 0x10 * number; };
  const auto sample = reflection_of(built, {{run, program, stub(0)}, {amount, money, stub(1)}, {rest, money, stub(2)},
                                            {of, money, stub(3)}, {has, base, stub(4)}, {show, color, stub(5)},
                                            {amount, money, stub(6)}, {rest, money, stub(6)}});
  // Where each stub leads to: the methods Amount and Rest share their code.
  constexpr std::uint32_t kTo[] = {0x80, 0x90, 0x90, 0xA0, 0xB0, 0xC0, 0xD0};
  test::ImageBuilder builder;
  for (std::uint32_t i = 0; i < std::size(kTo); ++i) {
    const auto distance = static_cast<std::uint8_t>(kTo[i] - (0x10 * i + 9));
    builder.put_code(stub(i), {0x48, 0x83, 0xC1, 0x08, 0xE9, distance, 0, 0, 0});
  }
  const auto file = builder.build();
  StackTraceMap map = map_of(sample, 7);
  map.add_code(PeImage::parse(file), file);
  EXPECT_EQ(map.name_at(stub(0)), "Shop.Program.Run()");
  EXPECT_EQ(map.name_at(kCode + 0x80), "") << "a method of a class";
  EXPECT_EQ(map.name_at(kCode + 0x90), "") << "two methods share it";
  EXPECT_EQ(map.name_at(kCode + 0xA0), "") << "a static method";
  EXPECT_EQ(map.name_at(kCode + 0xB0), "") << "System.Enum is a class";
  EXPECT_EQ(map.name_at(kCode + 0xC0), "Shop.Color.Show()");
  EXPECT_EQ(map.name_at(kCode + 0xD0), "") << "two methods share their stub";
}

}  // namespace
}  // namespace mixwalk
