#include "symbols/pe_exports.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

// Returns "name" at the function's start, "name+0x4" behind it, and "" if there is no name.
std::string name_at(const ImageBuilder& builder, std::uint32_t rva) {
  const PeExports exports(std::make_shared<const ImageFile>("built.dll", builder.build()));
  const auto symbol = exports.find(rva);
  if (!symbol) return "";
  if (symbol->rva == rva) return symbol->name();
  char displacement[16];
  std::snprintf(displacement, sizeof displacement, "+0x%x", rva - symbol->rva);
  return symbol->name() + displacement;
}

TEST(PeExportsTest, FunctionIsNamedToItsLastByte) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).export_name("First", kCode);
  EXPECT_EQ(name_at(builder, kCode), "First");
  EXPECT_EQ(name_at(builder, kCode + 0x1F), "First+0x1f");
}

TEST(PeExportsTest, StaticFunctionBehindAnExportHasNoName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
  builder.export_name("First", kCode);
  EXPECT_EQ(name_at(builder, kCode + 0x20), "");
  EXPECT_EQ(name_at(builder, kCode + 0x3F), "");
}

TEST(PeExportsTest, SplitPartOfAFunctionHasItsName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).function(kCode + 0x10, kCode + 0x20);
  builder.chained(kCode + 0x40, kCode + 0x50, kCode, kCode + 0x10);
  builder.export_name("First", kCode).export_name("Second", kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x48), "First+0x48");
  EXPECT_EQ(name_at(builder, kCode + 0x18), "Second+0x8");
}

TEST(PeExportsTest, SplitPartBeforeItsFunctionHasNoName) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode + 0x40, kCode + 0x50);
  builder.function(kCode + 0x40, kCode + 0x50).export_name("Late", kCode + 0x40);
  EXPECT_EQ(name_at(builder, kCode + 0x8), "");
  EXPECT_EQ(name_at(builder, kCode + 0x48), "Late+0x8");
}

TEST(PeExportsTest, ChainThatLeadsNowhereHasNoName) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode, kCode + 0x10, 0, ImageBuilder::kXdata);
  builder.export_name("First", kCode);
  EXPECT_EQ(name_at(builder, kCode), "");
}

TEST(PeExportsTest, ExportInsideAFunctionNamesNothing) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).export_name("Inner", kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x8), "");
  EXPECT_EQ(name_at(builder, kCode + 0x10), "");
}

TEST(PeExportsTest, AddressBehindASecondExportInAFunctionHasNoName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).chained(kCode + 0x40, kCode + 0x50, kCode, kCode + 0x20);
  builder.function(kCode + 0x30, kCode + 0x40).export_name("Other", kCode + 0x30);
  builder.export_name("Whole", kCode).export_name("Inner", kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0xF), "Whole+0xf");
  EXPECT_EQ(name_at(builder, kCode + 0x10), "");
  EXPECT_EQ(name_at(builder, kCode + 0x48), "");
  EXPECT_EQ(name_at(builder, kCode + 0x38), "Other+0x8");
}

TEST(PeExportsTest, ExportInAnotherFunctionIsNoSecondOne) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).function(kCode + 0x10, kCode + 0x20);
  builder.chained(kCode + 0x20, kCode + 0x30, kCode, kCode + 0x10);
  builder.export_name("First", kCode).export_name("Second", kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x28), "First+0x28");
}

TEST(PeExportsTest, LeafIsNamedUpToItsReturn) {
  ImageBuilder builder;
  builder.put_code(kCode + 0x20, {0x8B, 0x41, 0x08, 0xC3}).export_name("Leaf", kCode + 0x20);
  EXPECT_EQ(name_at(builder, kCode + 0x20), "Leaf");
  EXPECT_EQ(name_at(builder, kCode + 0x23), "Leaf+0x3");
  EXPECT_EQ(name_at(builder, kCode + 0x24), "");
  EXPECT_EQ(name_at(builder, kCode + 0x1F), "");
}

TEST(PeExportsTest, LeafEndsWhereAFunctionBegins) {
  ImageBuilder builder;
  builder.export_name("Leaf", kCode).function(kCode + 0x10, kCode + 0x20);
  EXPECT_EQ(name_at(builder, kCode + 0xF), "Leaf+0xf");
  EXPECT_EQ(name_at(builder, kCode + 0x10), "");
  EXPECT_EQ(name_at(builder, kCode + 0x20), "");
}

TEST(PeExportsTest, LeafBehindAFunctionIsNotThatFunctions) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).export_name("First", kCode);
  EXPECT_EQ(name_at(builder, kCode + 0x10), "");
}

TEST(PeExportsTest, LeafEndsWhereAnotherExportBegins) {
  ImageBuilder builder;
  builder.export_name("Leaf", kCode).export_name("Next", kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0xF), "Leaf+0xf");
  EXPECT_EQ(name_at(builder, kCode + 0x11), "Next+0x1");
}

TEST(PeExportsTest, LeafEndsWithItsSection) {
  ImageBuilder builder;
  builder.put_code(kCode + 0xFFF, {0x90}).put_code(ImageBuilder::kMoreCode, {0x90, 0x90});
  builder.export_name("Leaf", kCode + 0xFF0);
  EXPECT_EQ(name_at(builder, kCode + 0xFFF), "Leaf+0xf");
  EXPECT_EQ(name_at(builder, ImageBuilder::kMoreCode), "");
}

TEST(PeExportsTest, LeafThatNeverEndsIsNotFollowedFarther) {
  ImageBuilder builder;
  builder.put_code(ImageBuilder::kMoreCode + 0x1F00, {0x90});
  std::vector<std::uint8_t> nops(0x1F00, 0x90);
  builder.put_code(ImageBuilder::kMoreCode, nops).export_name("Long", ImageBuilder::kMoreCode);
  EXPECT_EQ(name_at(builder, ImageBuilder::kMoreCode + 4095), "Long+0xfff");
  EXPECT_EQ(name_at(builder, ImageBuilder::kMoreCode + 4096), "");
}

TEST(PeExportsTest, NtIsPreferredToItsTwinZw) {
  ImageBuilder builder;
  builder.export_name("ZwClose", kCode).export_alias("NtClose");
  EXPECT_EQ(name_at(builder, kCode), "NtClose");
}

TEST(PeExportsTest, ShortestPlainNameIsPreferred) {
  ImageBuilder builder;
  builder.export_ordinal(kCode).export_name("?x@@", kCode).export_name("_x", kCode);
  builder.export_name("AnsiLength", kCode).export_name("lstrlen", kCode).export_ordinal(kCode);
  EXPECT_EQ(name_at(builder, kCode), "lstrlen");
}

TEST(PeExportsTest, ExportWithoutANameIsItsOrdinal) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).export_name("Other", kCode + 0x40).export_ordinal(kCode);
  EXPECT_EQ(name_at(builder, kCode + 4), "#6+0x4");
}

TEST(PeExportsTest, DataExportNamesNothing) {
  ImageBuilder builder;
  builder.export_name("Data", ImageBuilder::kData);
  EXPECT_EQ(name_at(builder, ImageBuilder::kData), "");
  EXPECT_EQ(name_at(builder, ImageBuilder::kData + 8), "");
}

TEST(PeExportsTest, ForwarderNamesNothing) {
  ImageBuilder builder;
  builder.forward("Forwarded", "OTHER.Function");
  EXPECT_EQ(name_at(builder, 0), "");
  EXPECT_EQ(name_at(builder, ImageBuilder::kExports + 50), "");
}

TEST(PeExportsTest, ImageWithoutExportsNamesNothing) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode), "");
}

}  // namespace
}  // namespace mixwalk
