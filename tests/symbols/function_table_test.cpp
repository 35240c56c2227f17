#include "symbols/function_table.h"

#include <gtest/gtest.h>

#include "tests/support/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

std::string name_at(const ImageBuilder& builder, std::uint32_t rva) {
  const FunctionTable table(std::make_shared<const ImageFile>("built.dll", builder.build()));
  const auto symbol = table.find(rva);
  return symbol ? symbol->name() + "+" + std::to_string(rva - symbol->rva) : "";
}

TEST(FunctionTableTest, AFunctionIsNamedAfterItsBegin) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
  EXPECT_EQ(name_at(builder, kCode), "sub_1000+0");
  EXPECT_EQ(name_at(builder, kCode + 0x1F), "sub_1000+31");
  EXPECT_EQ(name_at(builder, kCode + 0x20), "sub_1020+0");
}

TEST(FunctionTableTest, APartBehindItsFunctionHasTheFunctionsName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).function(kCode + 0x10, kCode + 0x20);
  builder.chained(kCode + 0x40, kCode + 0x50, kCode, kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x44), "sub_1000+68");
}

TEST(FunctionTableTest, APartInFrontOfItsFunctionIsNamedAfterItself) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode + 0x40, kCode + 0x50);
  builder.function(kCode + 0x40, kCode + 0x50);
  EXPECT_EQ(name_at(builder, kCode + 4), "sub_1000+4");
}

TEST(FunctionTableTest, CodeWithoutUnwindDataHasNoName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20);
  EXPECT_EQ(name_at(builder, kCode + 0x20), "");
}

}  // namespace
}  // namespace mixwalk
