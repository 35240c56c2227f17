#include "walker/shown/image_id.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/builders/image_builder.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {
namespace {

TEST(ImageId, IsTheTimestampAndTheSize) {
  EXPECT_EQ(code_id({.size = 0x9'0000, .timestamp = 0x65f0'00ab}), "65F000AB90000");
  EXPECT_EQ(code_id({.size = 0x1'abcd, .timestamp = 0x1f}), "0000001F1abcd");
}

TEST(ImageId, OfNothingIsNothing) { EXPECT_EQ(code_id({}), ""); }

// The expected values were computed independently: by Python's hashlib, from the description of the algorithm.
TEST(ImageId, TheHashIsOfBothEndsAndTheLength) {
  std::vector<std::byte> file(10'000);
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::byte>(i * 7);
  EXPECT_EQ(htlhash(file), "6e7a367790a0963a1dcd7ad1eaa9e8c3");
  file[5000] = std::byte{1};  // this byte is at neither end
  EXPECT_EQ(htlhash(file), "6e7a367790a0963a1dcd7ad1eaa9e8c3");
  EXPECT_EQ(htlhash(std::span<const std::byte>()), "af5570f5a1810b7af78caf4bc70a660f");
}

class OneImage final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    return path == "there" ? std::optional(bytes) : std::nullopt;
  }
  std::vector<std::byte> bytes = test::ImageBuilder().build();
};

TEST(ImageId, OnlyTheImageThatWasLoadedHasOne) {
  OneImage files;
  const PeImage image = PeImage::parse(files.bytes);
  ASSERT_EQ(image.error(), PeError::none);
  Module module{.size = image.size_of_image(), .timestamp = image.timestamp(), .path = "there"};
  EXPECT_EQ(htlhash(module, files), htlhash(files.bytes));
  ++module.timestamp;
  EXPECT_EQ(htlhash(module, files), std::nullopt) << "another version";
  --module.timestamp;
  module.path = "gone";
  EXPECT_EQ(htlhash(module, files), std::nullopt);
  module.path.clear();
  EXPECT_EQ(htlhash(module, files), std::nullopt);
}

}  // namespace
}  // namespace mixwalk
