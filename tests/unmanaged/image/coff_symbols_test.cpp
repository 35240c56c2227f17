#include "unmanaged/image/coff_symbols.h"

#include <gtest/gtest.h>

#include "tests/builders/debug_image_builder.h"

namespace mixwalk {
namespace {

using test::DebugImageBuilder;

TEST(CoffFileTest, SectionsHaveTheirLongNamesAndNoPadding) {
  DebugImageBuilder builder;
  builder.section(".debug_info", std::vector<std::uint8_t>(5, 7));
  builder.section("12345678", {1});
  const auto bytes = builder.build();
  const CoffFile file = CoffFile::parse(bytes);
  ASSERT_EQ(file.error(), PeError::none);
  ASSERT_EQ(file.sections().size(), 3u);
  EXPECT_EQ(file.sections()[0].name, ".text");
  EXPECT_TRUE(file.sections()[0].executable);
  EXPECT_EQ(file.sections()[0].rva, DebugImageBuilder::kCode);
  EXPECT_EQ(file.sections()[1].name, ".debug_info");
  EXPECT_EQ(file.sections()[1].data.size(), 5u);
  EXPECT_EQ(file.sections()[2].name, "12345678");
  EXPECT_EQ(file.section(".debug_info"), &file.sections()[1]);
  EXPECT_EQ(file.section(".debug_line"), nullptr);
  EXPECT_EQ(file.image_base(), DebugImageBuilder::kImageBase);
  EXPECT_EQ(file.timestamp(), DebugImageBuilder::kTimestamp);
}

TEST(CoffFileTest, DebugFileHasSectionsWithoutData) {
  DebugImageBuilder builder;
  builder.section(".debug_info", {1, 2, 3});
  const auto bytes = builder.build(true);
  const CoffFile file = CoffFile::parse(bytes);
  ASSERT_EQ(file.error(), PeError::none);
  EXPECT_TRUE(file.sections()[0].data.empty());
  EXPECT_EQ(file.sections()[0].bytes, DebugImageBuilder::kCodeBytes);
  EXPECT_EQ(file.sections()[1].data.size(), 3u);
}

TEST(CoffSymbolsTest, FunctionsAreNamedAtTheirStart) {
  DebugImageBuilder builder;
  builder.symbol("a_function_with_a_long_name", 1, 0x10).symbol("short", 1, 0x20, 0x20, 3);
  builder.symbol("exactly8", 1, 0x30).symbol("label", 1, 0x28, 0, 3);
  const auto bytes = builder.build();
  const CoffSymbols symbols(CoffFile::parse(bytes));
  EXPECT_EQ(symbols.name_at(0x1010), "a_function_with_a_long_name");
  EXPECT_EQ(symbols.name_at(0x1011), "");
  EXPECT_EQ(symbols.name_at(0x1020), "short");
  EXPECT_EQ(symbols.name_at(0x1030), "exactly8");
  EXPECT_EQ(symbols.name_at(0x1028), "label");
  ASSERT_NE(symbols.function_before(0x102F), nullptr);
  EXPECT_EQ(symbols.function_before(0x102F)->name, "short");
  EXPECT_EQ(symbols.function_before(0x100F), nullptr);
}

TEST(CoffSymbolsTest, BestOfSeveralNamesIsTaken) {
  DebugImageBuilder builder;
  builder.symbol("aaa", 1, 0, 0, 2).symbol("b", 1, 0, 0x20, 3).symbol("zz", 1, 0).symbol("yy", 1, 0);
  const auto bytes = builder.build();
  const CoffSymbols symbols(CoffFile::parse(bytes));
  EXPECT_EQ(symbols.name_at(0x1000), "yy");
  EXPECT_EQ(symbols.starts().size(), 1u);
}

TEST(CoffSymbolsTest, SectionOfAFunctionNamesItWhereNothingElseDoes) {
  DebugImageBuilder builder;
  builder.symbol(".text$_ZN1AC2Ev", 1, 0, 0, 3, 1).symbol(".text$_ZN1BC2Ev", 1, 0x10, 0, 3, 1);
  builder.symbol("_ZN1BC1Ev", 1, 0x10).symbol(".text$mn", 1, 0x20, 0, 3, 1);
  const auto bytes = builder.build();
  const CoffSymbols symbols(CoffFile::parse(bytes));
  EXPECT_EQ(symbols.name_at(0x1000), "_ZN1AC2Ev");
  EXPECT_EQ(symbols.name_at(0x1010), "_ZN1BC1Ev");
  EXPECT_EQ(symbols.starts().size(), 2u);
}

TEST(CoffSymbolsTest, WhatIsNoCodeIsNoName) {
  DebugImageBuilder builder;
  const int data = builder.section(".data", {1, 2, 3, 4});
  builder.symbol("data", data, 1).symbol("absolute", -1, 0x1000).symbol("undefined", 0, 0x1000);
  builder.symbol("file", -2, 0, 0, 103, 2).symbol(".text", 1, 0, 0, 3, 1).symbol("beyond", 1, 0x1000);
  builder.symbol("no section", 9, 0).symbol("", 1, 4).symbol("after", 1, 0xFFF);
  const auto bytes = builder.build();
  const CoffSymbols symbols(CoffFile::parse(bytes));
  ASSERT_EQ(symbols.starts().size(), 1u);
  EXPECT_EQ(symbols.starts()[0].name, "after");
}

TEST(CoffSymbolsTest, CutOffTableGivesWhatIsThere) {
  DebugImageBuilder builder;
  builder.symbol("first", 1, 0).symbol("a_long_name_in_the_strings", 1, 4).symbol("last", 1, 8, 0x20, 2, 255);
  const auto bytes = builder.build();
  std::size_t most = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    // The bytes are copied, so that a sanitizer detects a read behind their end.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    most = std::max(most, CoffSymbols(CoffFile::parse(cut)).starts().size());
  }
  EXPECT_EQ(most, 3u);
}

}  // namespace
}  // namespace mixwalk
