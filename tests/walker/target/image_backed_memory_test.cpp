#include "walker/target/image_backed_memory.h"

#include <gtest/gtest.h>

#include "tests/builders/byte_writer.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/paged_memory.h"
#include "tests/walker/target/fake_files.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x7FF0'0000;
constexpr std::uint32_t kTable = ImageBuilder::kMoreCode;

std::vector<std::uint8_t> plain(const ByteWriter& writer) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : writer.bytes()) bytes.push_back(static_cast<std::uint8_t>(byte));
  return bytes;
}

class ImageBackedMemoryTest : public testing::Test {
 protected:
  // An image whose code begins with the address of its 16th byte, for the preferred base.
  ImageBackedMemoryTest() {
    const ByteWriter table = ByteWriter().u32(ImageBuilder::kCode).u32(12).u16(10 << 12).u16(0);
    const std::uint64_t preferred = PeImage::parse(ImageBuilder().build()).preferred_base();
    std::vector<std::byte> file = ImageBuilder()
                                      .put_code(ImageBuilder::kCode, plain(ByteWriter().u64(preferred + 0x1010)))
                                      .put_code(kTable, plain(table))
                                      .function(ImageBuilder::kCode, ImageBuilder::kCode + 8)
                                      .build();
    ImageBuilder::put32(file, ImageBuilder::kDirectoriesAt + 5 * 8, kTable);
    ImageBuilder::put32(file, ImageBuilder::kDirectoriesAt + 5 * 8 + 4, static_cast<std::uint32_t>(table.size()));
    folder_.files["/symbols/moved.dll"] = file;
  }

  test::PagedMemory dumped_;
  NoImageFiles none_;
  FakeFiles folder_;
  DiskImages disk_{none_, folder_, parse_symbol_path("/symbols")};
  const std::vector<Module> modules_{{kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp, "C:\\a\\moved.dll"}};
  ImageBackedMemory memory_{dumped_, modules_, disk_};
};

TEST_F(ImageBackedMemoryTest, AddressesInAFileAreThoseOfTheImagesBase) {
  EXPECT_EQ(memory_.read_value<std::uint64_t>(kBase + ImageBuilder::kCode), kBase + 0x1010);
}

TEST_F(ImageBackedMemoryTest, WhatTheDumpHasIsNotReadFromTheFile) {
  dumped_.put(kBase + ImageBuilder::kCode, std::uint64_t{7});
  EXPECT_EQ(memory_.read_value<std::uint64_t>(kBase + ImageBuilder::kCode), 7u);
  EXPECT_TRUE(folder_.asked.empty());
}

TEST_F(ImageBackedMemoryTest, OfALiveProcessOnlyConstantsAreReadFromTheFile) {
  const ImageBackedMemory live(dumped_, modules_, disk_, ImageBackedMemory::Uses::constants);
  EXPECT_FALSE(live.read_value<char>(kBase + ImageBuilder::kCode));
  EXPECT_EQ(live.read_value<std::uint32_t>(kBase + ImageBuilder::kPdata), ImageBuilder::kCode);
}

TEST_F(ImageBackedMemoryTest, AnotherListMayHaveAnotherImageAtABase) {
  EXPECT_TRUE(memory_.read_value<char>(kBase + ImageBuilder::kCode));
  const std::vector<Module> others = {{kBase, ImageBuilder::kSizeOfImage, 1, "C:\\a\\other.dll"}};
  memory_.set_modules(others);
  EXPECT_FALSE(memory_.read_value<char>(kBase + ImageBuilder::kCode));
}

}  // namespace
}  // namespace mixwalk
