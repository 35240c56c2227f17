#include "unmanaged/image/pe_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;
using ::testing::ElementsAre;

constexpr std::uint32_t kCode = ImageBuilder::kCode;

std::size_t directory_at(std::size_t index) {
  return ImageBuilder::kDirectoriesAt + index * 8;
}

// An image with one of everything.
ImageBuilder full_image() {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20)
      .chained(kCode + 0x20, kCode + 0x30, kCode, kCode + 0x20, 3)
      .export_name("Start", kCode)
      .export_ordinal(kCode + 0x40)
      .forward("Other", "OTHER.Function")
      .clr(true);
  return builder;
}

TEST(PeImageTest, HeaderFieldsAreThoseOfTheFile) {
  const auto file = full_image().build();
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.error(), PeError::none);
  EXPECT_EQ(image.machine(), 0x8664);
  EXPECT_EQ(image.timestamp(), ImageBuilder::kTimestamp);
  EXPECT_EQ(image.size_of_image(), ImageBuilder::kSizeOfImage);
  ASSERT_EQ(image.sections().size(), 7u);
  EXPECT_EQ(image.sections()[0].rva, kCode);
  EXPECT_TRUE(image.sections()[0].executable);
  EXPECT_FALSE(image.section_at(ImageBuilder::kData)->executable);
}

TEST(PeImageTest, EmptyFileIsNoImage) {
  EXPECT_EQ(PeImage::parse({}).error(), PeError::not_pe);
}

TEST(PeImageTest, TextFileIsNoImage) {
  const std::vector<std::byte> file(4096, std::byte{'a'});
  EXPECT_EQ(PeImage::parse(file).error(), PeError::not_pe);
}

TEST(PeImageTest, PeHeaderBeyondTheEndIsTruncated) {
  auto file = full_image().build();
  ImageBuilder::put32(file, 0x3C, 0xFFFFFFF0);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::not_pe);
  for (const std::size_t bytes : {0x3Du, 0x90u, 0x100u}) {
    file = full_image().build();
    file.resize(bytes);
    EXPECT_EQ(PeImage::parse(file).error(), PeError::truncated) << bytes;
  }
}

TEST(PeImageTest, ThirtyTwoBitImageIsTold) {
  auto file = full_image().build();
  ImageBuilder::put16(file, ImageBuilder::kMachineAt, 0x014C);
  ImageBuilder::put16(file, ImageBuilder::kMagicAt, 0x10B);
  const PeImage image = PeImage::parse(file);
  EXPECT_EQ(image.error(), PeError::pe32);
  EXPECT_EQ(image.machine(), 0x014C);
}

TEST(PeImageTest, ArmImageIsTold) {
  auto file = full_image().build();
  ImageBuilder::put16(file, ImageBuilder::kMachineAt, 0xAA64);
  const PeImage image = PeImage::parse(file);
  EXPECT_EQ(image.error(), PeError::not_x64);
  EXPECT_EQ(image.machine(), 0xAA64);
}

// Every prefix of a good file gives an error or an image, and is never read beyond its end (ASan).
TEST(PeImageTest, FileCutOffAnywhereIsSafe) {
  const auto file = full_image().build();
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    const std::vector<std::byte> cut(file.begin(),
                                     file.begin() + static_cast<std::ptrdiff_t>(bytes));
    const PeImage image = PeImage::parse(cut);
    // The headers end at 0x400; the part that is cut off behind them may be padding.
    EXPECT_TRUE(image.error() != PeError::none || bytes >= 0x400) << bytes;
  }
}

TEST(PeImageTest, ExportsAreSortedWithForwardersLast) {
  const auto file = full_image().build();
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.exports().size(), 3u);
  EXPECT_EQ(image.exports()[0].name, "Start");
  EXPECT_EQ(image.exports()[0].rva, kCode);
  EXPECT_EQ(image.exports()[0].ordinal, ImageBuilder::kOrdinalBase);
  EXPECT_EQ(image.exports()[1].name, "");
  EXPECT_EQ(image.exports()[1].rva, kCode + 0x40);
  EXPECT_EQ(image.exports()[1].ordinal, ImageBuilder::kOrdinalBase + 1);
  EXPECT_EQ(image.exports()[2].name, "Other");
  EXPECT_EQ(image.exports()[2].rva, 0u);
  EXPECT_EQ(image.exports()[2].forwarder, "OTHER.Function");
}

TEST(PeImageTest, AliasesOfOneSlotAreAllThere) {
  ImageBuilder builder;
  builder.export_name("ZwClose", kCode).export_alias("NtClose");
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.exports().size(), 2u);
  EXPECT_EQ(image.exports()[0].ordinal, image.exports()[1].ordinal);
  EXPECT_NE(image.exports()[0].name, image.exports()[1].name);
}

TEST(PeImageTest, UnusedOrdinalIsNoExport) {
  ImageBuilder builder;
  builder.export_name("First", kCode).export_ordinal(0).export_name("Third", kCode + 0x10);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.exports().size(), 2u);
  EXPECT_EQ(image.exports()[1].ordinal, ImageBuilder::kOrdinalBase + 2);
}

TEST(PeImageTest, NameOfAnOrdinalBeyondTheTableIsLeftOut) {
  ImageBuilder builder;
  builder.export_name("A", kCode).export_name("B", kCode + 0x10);
  auto file = builder.build();
  const std::size_t table = ImageBuilder::offset_of(file, ImageBuilder::kExports);
  ImageBuilder::put16(file, table + 40 + 2 * 4 + 2 * 4, 0x1000);  // A's entry
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.error(), PeError::none);
  ASSERT_EQ(image.exports().size(), 2u);
  EXPECT_EQ(image.exports()[0].name, "");
  EXPECT_EQ(image.exports()[1].name, "B");
}

TEST(PeImageTest, ForwarderWithoutATextIsLeftOut) {
  ImageBuilder builder;
  builder.forward("F", "OTHER.Function").export_name("Code", kCode);
  auto file = builder.build();
  const std::size_t table = ImageBuilder::offset_of(file, ImageBuilder::kExports);
  ImageBuilder::put32(file, table + 40, ImageBuilder::kExports);  // the name is empty, because a zero byte is there
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.exports().size(), 1u);
  EXPECT_EQ(image.exports()[0].name, "Code");
}

TEST(PeImageTest, MoreExportsThanAnyImageHasIsAnError) {
  auto file = full_image().build();
  const std::size_t table = ImageBuilder::offset_of(file, ImageBuilder::kExports);
  ImageBuilder::put32(file, table + 20, 0xFFFFFFFF);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::too_many);
  ImageBuilder::put32(file, table + 20, 900'000);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::truncated);
}

TEST(PeImageTest, NameThatNeverEndsIsNone) {
  ImageBuilder builder;
  builder.export_name("Endless", kCode);
  auto file = builder.build();
  // The name pointer leads to code that has no zero byte.
  const std::size_t table = ImageBuilder::offset_of(file, ImageBuilder::kExports);
  for (std::size_t i = 0; i < 0x200; ++i) {
    file[ImageBuilder::offset_of(file, kCode) + i] = std::byte{'A'};
  }
  ImageBuilder::put32(file, table + 40 + 4, kCode);
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.exports().size(), 1u);
  EXPECT_EQ(image.exports()[0].name, "");
}

TEST(PeImageTest, PlainFunctionIsItsOwnPrimary) {
  const auto file = full_image().build();
  const PeImage image = PeImage::parse(file);
  const PeImage::Function* function = image.function_at(kCode + 0x1F);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->begin, kCode);
  EXPECT_EQ(function->primary, kCode);
  EXPECT_EQ(image.function_at(kCode - 1), nullptr);
  EXPECT_EQ(image.function_at(kCode + 0x30), nullptr);
  EXPECT_EQ(image.function_after(kCode)->begin, kCode + 0x20);
  EXPECT_EQ(image.function_after(kCode + 0x20), nullptr);
}

TEST(PeImageTest, ChainedEntryLeadsToItsPrimary) {
  const auto file = full_image().build();
  const PeImage image = PeImage::parse(file);
  const PeImage::Function* function = image.function_at(kCode + 0x20);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->begin, kCode + 0x20);
  EXPECT_EQ(function->primary, kCode);
}

TEST(PeImageTest, ChainOfChainsLeadsToTheFirst) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10);
  const std::uint32_t first = ImageBuilder::kXdata;
  builder.chained(kCode + 0x10, kCode + 0x20, kCode, kCode + 0x10, 0, first);
  const std::uint32_t second = first + 4;
  builder.chained(kCode + 0x20, kCode + 0x30, kCode + 0x10, kCode + 0x20, 1, second);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_NE(image.function_at(kCode + 0x28), nullptr);
  EXPECT_EQ(image.function_at(kCode + 0x28)->primary, kCode);
}

TEST(PeImageTest, IndirectEntryLeadsToItsPrimary) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10);
  builder.raw_function(kCode + 0x10, kCode + 0x20, ImageBuilder::entry_rva(0) | 1);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_NE(image.function_at(kCode + 0x10), nullptr);
  EXPECT_EQ(image.function_at(kCode + 0x10)->primary, kCode);
}

// The entry refers to an indirect entry. Windows follows only one reference.
TEST(PeImageTest, IndirectEntryOfAnIndirectEntryHasNoPrimary) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10);
  builder.raw_function(kCode + 0x10, kCode + 0x20, ImageBuilder::entry_rva(0) | 1);
  builder.raw_function(kCode + 0x20, kCode + 0x30, ImageBuilder::entry_rva(1) | 1);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_NE(image.function_at(kCode + 0x20), nullptr);
  EXPECT_EQ(image.function_at(kCode + 0x20)->primary, 0u);
}

TEST(PeImageTest, ChainToItselfHasNoPrimary) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode, kCode + 0x10, 0, ImageBuilder::kXdata);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_NE(image.function_at(kCode), nullptr);
  EXPECT_EQ(image.function_at(kCode)->primary, 0u);
}

TEST(PeImageTest, UnwindInfoBeyondTheImageHasNoPrimary) {
  ImageBuilder builder;
  builder.raw_function(kCode, kCode + 0x10, 0x00F00000);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.functions().size(), 1u);
  EXPECT_EQ(image.functions()[0].primary, 0u);
}

TEST(PeImageTest, EmptyEntriesArePadding) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).raw_function(0, 0, 0);
  const auto file = builder.build();
  EXPECT_EQ(PeImage::parse(file).functions().size(), 1u);
}

TEST(PeImageTest, EntriesOutOfOrderAreFound) {
  ImageBuilder builder;
  builder.function(kCode + 0x40, kCode + 0x50).function(kCode, kCode + 0x10);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  ASSERT_NE(image.function_at(kCode), nullptr);
  ASSERT_NE(image.function_at(kCode + 0x40), nullptr);
}

TEST(PeImageTest, ExceptionDirectoryBeyondItsSectionIsTruncated) {
  auto file = full_image().build();
  ImageBuilder::put32(file, directory_at(3) + 4, 12 * 60);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::truncated);
  ImageBuilder::put32(file, directory_at(3) + 4, 0xFFFFFFFF);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::too_many);
}

TEST(PeImageTest, SectionThatTheFileDoesNotHoldHasNoBytes) {
  auto file = full_image().build();
  ImageBuilder::put32(file, ImageBuilder::kSectionTableAt + 20, 0xFFFFFFF0);
  const PeImage image = PeImage::parse(file);
  ASSERT_EQ(image.error(), PeError::none);
  EXPECT_TRUE(image.is_code(kCode));
  EXPECT_FALSE(image.bytes_at(kCode, 1));
}

TEST(PeImageTest, MemoryThatTheFileDoesNotHoldIsPartOfItsSection) {
  auto file = full_image().build();
  ImageBuilder::put32(file, ImageBuilder::kSectionTableAt + 8, 0x800);
  const PeImage image = PeImage::parse(file);
  EXPECT_TRUE(image.is_code(kCode + 0x7FF));
  EXPECT_FALSE(image.is_code(kCode + 0x800));
  EXPECT_FALSE(image.bytes_at(kCode + 0x7FF, 1));
}

TEST(PeImageTest, BytesAreWholeOrNothing) {
  ImageBuilder builder;
  builder.put_code(kCode, {1, 2, 3});
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  const auto bytes = image.bytes_at(kCode, 3);
  ASSERT_TRUE(bytes);
  EXPECT_THAT(*bytes, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_TRUE(image.bytes_at(kCode, 0x200));
  EXPECT_FALSE(image.bytes_at(kCode, 0x201));
  EXPECT_FALSE(image.bytes_at(kCode + 0x1FF, 2));
  EXPECT_FALSE(image.bytes_at(0xFFFFFFFF, 2));
}

TEST(PeImageTest, MoreSectionsThanAnyImageHasIsAnError) {
  auto file = full_image().build();
  ImageBuilder::put16(file, ImageBuilder::kSectionCountAt, 0xFFFF);
  EXPECT_EQ(PeImage::parse(file).error(), PeError::too_many);
}

TEST(PeImageTest, ReadyToRunImageHasManagedCode) {
  const auto file = full_image().build();
  const PeImage image = PeImage::parse(file);
  EXPECT_TRUE(image.has_managed_code());
}

TEST(PeImageTest, PlainAssemblyHasNoManagedNativeCode) {
  ImageBuilder builder;
  builder.clr(false);
  const auto file = builder.build();
  const PeImage image = PeImage::parse(file);
  EXPECT_FALSE(image.has_managed_code());
}

TEST(PeImageTest, NativeImageHasNoManagedCode) {
  const auto file = ImageBuilder().build();
  const PeImage image = PeImage::parse(file);
  EXPECT_FALSE(image.has_managed_code());
}

TEST(PeImageTest, EveryErrorHasWords) {
  for (int error = 0; error <= static_cast<int>(PeError::too_many); ++error) {
    EXPECT_NE(to_string(static_cast<PeError>(error)), "unknown error") << error;
  }
}

}  // namespace
}  // namespace mixwalk
