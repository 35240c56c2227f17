#include "unmanaged/image/imports.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::size_t kImportDirectoryAt = ImageBuilder::kDirectoriesAt + 1 * 8;

std::string text(const std::vector<std::byte>& bytes) {
  const PeImage image = PeImage::parse(bytes);
  std::string text;
  const Imports imports(image);
  for (const Import& import : imports.all()) {
    const std::string name =
        import.name.empty() ? "#" + std::to_string(import.ordinal) : std::string(import.name);
    text += std::string(import.image) + "!" + name + (import.delayed ? " delayed;" : ";");
  }
  return text;
}

ImageBuilder three() {
  ImageBuilder builder;
  builder.import("KERNEL32.dll", "Sleep")
      .import_ordinal("ORDERS.dll", 7)
      .import_delayed("late.dll", "Load", 0x1000);
  return builder;
}

TEST(Imports, AreReadByNameByOrdinalAndOfDelayedLoads) {
  EXPECT_EQ(text(three().build()), "KERNEL32.dll!Sleep;ORDERS.dll!#7;late.dll!Load delayed;");
}

TEST(Imports, AreFoundByTheirSlot) {
  const auto bytes = three().build();
  const PeImage image = PeImage::parse(bytes);
  const Imports imports(image);
  ASSERT_NE(imports.at(ImageBuilder::import_slot(0)), nullptr);
  EXPECT_EQ(imports.at(ImageBuilder::import_slot(0))->name, "Sleep");
  EXPECT_EQ(imports.at(ImageBuilder::import_slot(2))->name, "Load");
  EXPECT_EQ(imports.at(ImageBuilder::import_slot(0) + 8), nullptr);  // the zero that ends the table
  EXPECT_EQ(imports.at(0), nullptr);
  EXPECT_EQ(imports.at(UINT32_MAX), nullptr);
}

TEST(Imports, ImageWithoutAnyHasNone) {
  EXPECT_EQ(text(ImageBuilder().build()), "");
  EXPECT_TRUE(Imports(PeImage()).all().empty());
}

TEST(Imports, TableOutsideTheFileIsNone) {
  auto bytes = three().build();
  ImageBuilder::put32(bytes, kImportDirectoryAt, 0xFFFFFFF0);
  EXPECT_EQ(text(bytes), "late.dll!Load delayed;");
}

TEST(Imports, NameOutsideTheFileIsLeftOut) {
  auto bytes = three().build();
  const std::size_t names =
      ImageBuilder::offset_of(bytes, ImageBuilder::import_slot(ImageBuilder::kMaxImports));
  ImageBuilder::put32(bytes, names, 0x7FFFFFF0);
  EXPECT_EQ(text(bytes), "ORDERS.dll!#7;late.dll!Load delayed;");
}

TEST(Imports, NameAtNoAddressOfAnImageIsLeftOut) {
  auto bytes = three().build();
  const std::size_t names =
      ImageBuilder::offset_of(bytes, ImageBuilder::import_slot(ImageBuilder::kMaxImports));
  ImageBuilder::put32(bytes, names + 4, 1);  // 4 GiB behind the name
  EXPECT_EQ(text(bytes), "ORDERS.dll!#7;late.dll!Load delayed;");
}

// Old linkers write such a table; the loader overwrites the names in memory, not in the file.
TEST(Imports, TableOfSlotsHasTheNamesWhereThereIsNoOther) {
  auto bytes = three().build();
  const PeImage image = PeImage::parse(bytes);
  ImageBuilder::put32(bytes, ImageBuilder::offset_of(bytes, image.import_table()), 0);
  EXPECT_EQ(text(bytes), "KERNEL32.dll!Sleep;ORDERS.dll!#7;late.dll!Load delayed;");
}

TEST(Imports, ImageWithoutSlotsEndsTheTable) {
  auto bytes = three().build();
  const PeImage image = PeImage::parse(bytes);
  ImageBuilder::put32(bytes, ImageBuilder::offset_of(bytes, image.import_table()) + 16, 0);
  EXPECT_EQ(text(bytes), "late.dll!Load delayed;");
}

// If the attributes lack dlattrRva, the fields are addresses of a 32-bit linker.
TEST(Imports, DelayedLoadsByAddressAreLeftOut) {
  auto bytes = three().build();
  const PeImage image = PeImage::parse(bytes);
  ImageBuilder::put32(bytes, ImageBuilder::offset_of(bytes, image.delay_import_table()), 0);
  EXPECT_EQ(text(bytes), "KERNEL32.dll!Sleep;ORDERS.dll!#7;");
}

// Two entries claim one slot, so the slot's content is not known.
TEST(Imports, SlotOfTwoEntriesIsNobodys) {
  auto bytes = three().build();
  const PeImage image = PeImage::parse(bytes);
  const std::size_t second = ImageBuilder::offset_of(bytes, image.import_table()) + 20;
  ImageBuilder::put32(bytes, second + 16, ImageBuilder::import_slot(0));
  EXPECT_EQ(text(bytes), "late.dll!Load delayed;");
}

}  // namespace
}  // namespace mixwalk
