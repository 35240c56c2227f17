#include "symbols/image_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mixwalk {
namespace {

TEST(DiskImageFilesTest, FileIsReadWhole) {
  const std::u8string path =
      (std::filesystem::path(testing::TempDir()) / u8"mixwalk-ä.bin").u8string();
  const std::string text("MZ\0\r\n\x1A!", 7);  // nothing of it is text to anyone
  std::ofstream(std::filesystem::path(path), std::ios::binary) << text;
  const auto bytes = DiskImageFiles().read(std::string(path.begin(), path.end()));
  std::filesystem::remove(path);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()), text);
}

TEST(DiskImageFilesTest, MissingFileIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read("no/such/file.dll"));
  EXPECT_FALSE(DiskImageFiles().read(""));
}

TEST(DiskImageFilesTest, FolderIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read(testing::TempDir()));
}

// Neither UTF-8 nor a path; a hang dump may hold anything.
TEST(DiskImageFilesTest, DamagedPathIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read("\xFF\xFE\xC0.dll"));
}

}  // namespace
}  // namespace mixwalk
