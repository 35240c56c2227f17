#include "symbols/metadata/image_metadata.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "symbols/metadata/metadata_names.h"
#include "tests/builders/assembly_builder.h"
#include "tests/builders/image_builder.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

// Whether the metadata of test::assembly_file() is found.
bool is_found(std::span<const std::byte> image) {
  const ByteMemory memory(image);
  auto tables = metadata_of_image(memory, 0);
  const auto mvid = tables ? MetadataNames(std::move(*tables)).mvid() : std::nullopt;
  return mvid && (*mvid)[0] == std::byte{9};
}

// The image as the system lays it out: its headers, and its code at the RVA of the code.
std::vector<std::byte> loaded(const std::vector<std::byte>& file) {
  constexpr std::size_t kHeaders = 0x200;
  const std::size_t code = ImageBuilder::offset_of(file, test::kCliHeaderAt);
  std::vector<std::byte> image(test::kCliHeaderAt);
  std::copy_n(file.begin(), kHeaders, image.begin());
  image.insert(image.end(), file.begin() + static_cast<std::ptrdiff_t>(code), file.end());
  return image;
}

TEST(ImageMetadataTest, AsTheFileIs) { EXPECT_TRUE(is_found(test::assembly_file({}))); }

TEST(ImageMetadataTest, AsTheSystemLoadsIt) { EXPECT_TRUE(is_found(loaded(test::assembly_file({})))); }

TEST(ImageMetadataTest, NoAssembly) {
  EXPECT_FALSE(is_found({}));
  EXPECT_FALSE(is_found(ImageBuilder().build()));
}

TEST(ImageMetadataTest, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = loaded(test::assembly_file({}));
  for (std::size_t i = 0; i < 0x200; ++i) {
    auto wrong = whole;
    wrong[i] ^= std::byte{0xFF};
    is_found(wrong);
  }
  for (std::size_t i = 0; i < whole.size(); i += 16) is_found(std::span(whole).first(i));
}

}  // namespace
}  // namespace mixwalk
