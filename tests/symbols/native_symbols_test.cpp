#include "symbols/native_symbols.h"

#include <gtest/gtest.h>

#include "symbols/dwarf/dwarf_symbols.h"
#include "tests/builders/image_builder.h"
#include "tests/symbols/dwarf/dwarf_builder.h"

namespace mixwalk {
namespace {

using test::DebugImageBuilder;
using test::ImageBuilder;

class NoFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override { return std::nullopt; }
};

std::shared_ptr<const ImageFile> image_of(std::vector<std::byte> bytes) {
  return std::make_shared<const ImageFile>("a.dll", std::move(bytes));
}

NativeSymbols with_dwarf(const DebugImageBuilder& builder) {
  const auto image = image_of(builder.build());
  NoFiles files;
  DwarfSymbols dwarf = open_dwarf(image, files);
  return NativeSymbols(image, std::move(dwarf.index), std::move(dwarf.linked_symbols));
}

TEST(NativeSymbolsTest, MangledSymbolSaysMoreThanAPlainName) {
  DebugImageBuilder builder;
  test::DwarfTables().add_to(builder);
  builder.symbol("_ZN2ns5outerEv", 1, 0).symbol("other_name", 1, 0x100).symbol("_ZN1x5innerEv", 1, 0x20);
  NativeSymbols symbols = with_dwarf(builder);
  SourceLocation found;
  EXPECT_EQ(symbols.find(0x1020, found), NameSource::debug);
  ASSERT_EQ(found.frames.size(), 2u);
  EXPECT_EQ(found.frames[0].name, "inner");
  EXPECT_EQ(found.frames[1].name, "_ZN2ns5outerEv");
  EXPECT_EQ(symbols.find(0x1100, found), NameSource::debug);
  EXPECT_EQ(found.frames[0].name, "_ZN5plainEv");
}

TEST(NativeSymbolsTest, PlainNameOfTheDebugInformationStays) {
  DebugImageBuilder builder;
  test::DwarfTables().add_to(builder);
  builder.symbol("outer.part.0", 1, 0);
  NativeSymbols symbols = with_dwarf(builder);
  SourceLocation found;
  symbols.find(0x1000, found);
  EXPECT_EQ(found.frames[0].name, "outer");
}

// Of gcc, or of LLVM, in an image without debug information. The code is nops, so control falls through.
TEST(NativeSymbolsTest, PartsHaveTheNameOfTheirFunction) {
  DebugImageBuilder builder;
  builder.symbol("_ZN2ns5outerEv", 1, 0).symbol("_ZN2ns5outerEv.cold", 1, 0x20);
  builder.symbol("_ZN2ns5outerEv.cold.1", 1, 0x40).symbol(".cold", 1, 0x60);
  NativeSymbols symbols(image_of(builder.build()), nullptr);
  const auto name = [&](std::uint32_t rva) {
    SourceLocation found;
    symbols.find(rva, found);
    return std::string(found.frames[0].name);
  };
  EXPECT_EQ(name(0x1010), "_ZN2ns5outerEv");
  EXPECT_EQ(name(0x1030), "_ZN2ns5outerEv");
  EXPECT_EQ(name(0x1050), "_ZN2ns5outerEv.cold.1") << "a function that is called";
  EXPECT_EQ(name(0x1070), ".cold");
}

// The code has neither debug information nor unwind data. It consists of nops from the symbol's start on, so control
// falls through.
TEST(NativeSymbolsTest, LeafFunctionHasTheLinkersName) {
  DebugImageBuilder builder;
  builder.symbol("leaf", 1, 0x200).symbol("label", 1, 0x210, 0, 3).symbol("next", 1, 0x220);
  builder.put_code(0x1230, {0xC3});  // the code behind a ret may be another function
  NativeSymbols symbols(image_of(builder.build()), nullptr);
  SourceLocation found;
  EXPECT_EQ(symbols.find(0x1230, found), NameSource::symbols);
  EXPECT_EQ(symbols.find(0x1231, found), NameSource::none);
  EXPECT_EQ(symbols.find(0x1218, found), NameSource::symbols);
  EXPECT_EQ(found.frames[0].name, "leaf");
  EXPECT_EQ(found.begin, 0x1200u);
  EXPECT_EQ(symbols.find(0x1220, found), NameSource::symbols);
  EXPECT_EQ(found.frames[0].name, "next");
  EXPECT_EQ(symbols.find(0x11FF, found), NameSource::none);
  EXPECT_EQ(found.begin, 0x11FFu);
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_EQ(found.frames[0].name, "");
}

TEST(NativeSymbolsTest, ExportAndTheFunctionsStartAreLast) {
  ImageBuilder builder;
  builder.function(0x1000, 0x1020).function(0x1020, 0x1040).export_name("Exported", 0x1000);
  NativeSymbols symbols(image_of(builder.build()), nullptr);
  SourceLocation found;
  EXPECT_EQ(symbols.find(0x1010, found), NameSource::exports);
  EXPECT_EQ(found.frames[0].name, "Exported");
  EXPECT_EQ(found.begin, 0x1000u);
  EXPECT_EQ(symbols.find(0x1030, found), NameSource::none);
  EXPECT_EQ(found.begin, 0x1020u);
}

TEST(NativeSymbolsTest, OnlyEncodedNamesAreMangled) {
  for (const char* name : {"_ZN1AC1Ev", "?f@@YAXXZ", "_RNvC1a1b", "_D3foo3barFZv"})
    EXPECT_TRUE(is_mangled(name));
  for (const char* name : {"", "_", "_R", "_Rb_tree", "_Destroy", "main", "_D"})
    EXPECT_FALSE(is_mangled(name));
}

}  // namespace
}  // namespace mixwalk
