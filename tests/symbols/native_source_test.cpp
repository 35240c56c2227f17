#include "symbols/native_source.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

class NoFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override { return std::nullopt; }
};

std::optional<Symbol> symbol_at(const ImageBuilder& builder, std::uint32_t rva) {
  NoFiles files;
  NativeSources sources(files, files, {});
  return sources.open(std::make_shared<const ImageFile>("built.dll", builder.build()))->find(rva);
}

std::string name_at(const ImageBuilder& builder, std::uint32_t rva) {
  const auto symbol = symbol_at(builder, rva);
  return symbol ? symbol->name() + "+" + std::to_string(rva - symbol->rva) : "";
}

TEST(NativeSourceTest, AFunctionWithoutANameIsNamedAfterItsBegin) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
  EXPECT_EQ(name_at(builder, kCode), "sub_1000+0");
  EXPECT_EQ(name_at(builder, kCode + 0x1F), "sub_1000+31");
  EXPECT_EQ(name_at(builder, kCode + 0x20), "sub_1020+0");
  EXPECT_EQ(symbol_at(builder, kCode)->kind, SymbolKind::function_table);
}

TEST(NativeSourceTest, APartBehindItsFunctionHasTheFunctionsName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).function(kCode + 0x10, kCode + 0x20);
  builder.chained(kCode + 0x40, kCode + 0x50, kCode, kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x44), "sub_1000+68");
}

TEST(NativeSourceTest, APartInFrontOfItsFunctionIsNamedAfterItself) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode + 0x40, kCode + 0x50);
  builder.function(kCode + 0x40, kCode + 0x50);
  EXPECT_EQ(name_at(builder, kCode + 4), "sub_1000+4");
}

TEST(NativeSourceTest, CodeThatNothingNamesAndNoTableHasIsNoSymbol) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20);
  EXPECT_EQ(name_at(builder, kCode + 0x20), "");
}

TEST(NativeSourceTest, AnExportIsNamedWholly) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).export_name("?submit@Orders@@QEAAXH@Z", kCode);
  EXPECT_EQ(name_at(builder, kCode + 4), "Orders::submit(int)+4");
  EXPECT_EQ(symbol_at(builder, kCode)->kind, SymbolKind::exported);
}

}  // namespace
}  // namespace mixwalk
