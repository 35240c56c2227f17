#include "unmanaged/minidump/mapped_file.h"
#include "tests/support/remove_tree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace mixwalk {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "mixwalk-mapped-file-test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }
  std::string path(const char8_t* name) const {
    const std::u8string text = (folder_ / name).u8string();
    return {text.begin(), text.end()};
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, AFileHasItsBytesWhateverItsName) {
  std::ofstream(folder_ / u8"stapel-\u00fc.dmp", std::ios::binary) << "MDMP";
  const MappedFile file(path(u8"stapel-\u00fc.dmp"));
  EXPECT_EQ(file.error(), "");
  ASSERT_EQ(file.bytes().size(), 4u);
  EXPECT_EQ(file.bytes()[3], std::byte{'P'});
  char part[2] = {};
  file.read(2, part, 2);
  EXPECT_EQ(std::string_view(part, 2), "MP");
}

TEST_F(MappedFileTest, BytesThatWereReadAlreadyAreReadAlike) {
  const MappedFile file(MappedFile::Content{.bytes = "MDMP", .error = {}});
  char part[2] = {};
  file.read(1, part, 2);
  EXPECT_EQ(std::string_view(part, 2), "DM");
}

TEST_F(MappedFileTest, AnEmptyFileIsNoError) {
  std::ofstream(folder_ / "empty.dmp");
  const MappedFile file(path(u8"empty.dmp"));
  EXPECT_EQ(file.error(), "");
  EXPECT_TRUE(file.bytes().empty());
}

TEST_F(MappedFileTest, NoFileAndAFolderSayWhy) {
  EXPECT_EQ(MappedFile(path(u8"none.dmp")).error(), "No such file or directory");
  EXPECT_EQ(MappedFile(path(u8".")).error(), "Is a directory");
}

}  // namespace
}  // namespace mixwalk
