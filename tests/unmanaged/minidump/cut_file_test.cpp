// Tests files that another program truncates while they are mapped. Windows does not allow that.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "unmanaged/minidump/mapped_file.h"

namespace mixwalk {
namespace {

constexpr std::size_t kBytes = 1 << 20, kLeft = 100'000;

class CutFile : public ::testing::Test {
 protected:
  CutFile() : path_(std::filesystem::temp_directory_path() / "mixwalk-cut-file-test.dmp") {
    std::ofstream(path_) << std::string(kBytes, 'x');
    file_.emplace(path_.string());
  }
  ~CutFile() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  std::optional<MappedFile> file_;
};

TEST_F(CutFile, WhatIsGoneReadsAsZerosAndIsTold) {
  ASSERT_EQ(file_->bytes().size(), kBytes);
  EXPECT_FALSE(file_->cut());
  std::filesystem::resize_file(path_, kLeft);
  EXPECT_EQ(file_->bytes()[kLeft - 1], std::byte{'x'});
  EXPECT_EQ(file_->bytes()[kBytes / 2], std::byte{0});
  EXPECT_TRUE(file_->cut());
  EXPECT_EQ(file_->bytes()[kBytes - 1], std::byte{0});
  EXPECT_EQ(file_->bytes()[0], std::byte{'x'});
}

TEST_F(CutFile, AReadAcrossTheEndHasZerosBehindIt) {
  std::filesystem::resize_file(path_, kLeft);
  std::string part(8, '?');
  file_->read(kLeft - 4, part.data(), part.size());
  EXPECT_EQ(part, std::string("xxxx\0\0\0\0", 8));
  EXPECT_TRUE(file_->cut());
}

// The system gives no signal in this case: the rest of the last page reads as zeros.
TEST_F(CutFile, InTheLastPage) {
  std::filesystem::resize_file(path_, kBytes - 100);
  EXPECT_EQ(file_->bytes()[kBytes - 1], std::byte{0});
  EXPECT_TRUE(file_->cut());
}

// The cut must also be detected if the file has its length again before it is checked.
TEST_F(CutFile, AndMadeLongerAgain) {
  std::filesystem::resize_file(path_, kLeft);
  EXPECT_EQ(file_->bytes()[kBytes / 2], std::byte{0});
  std::filesystem::resize_file(path_, kBytes);
  EXPECT_TRUE(file_->cut());
}

TEST_F(CutFile, AnotherFileIsNotCut) {
  const std::filesystem::path another = path_.string() + "2";
  std::filesystem::copy_file(path_, another, std::filesystem::copy_options::overwrite_existing);
  const MappedFile other(another.string());
  std::filesystem::resize_file(path_, kLeft);
  EXPECT_EQ(file_->bytes()[kBytes / 2], std::byte{0});
  EXPECT_TRUE(file_->cut());
  EXPECT_FALSE(other.cut());
  std::filesystem::remove(another);
  file_.emplace(path_.string());
  EXPECT_EQ(file_->bytes().size(), kLeft);
  EXPECT_FALSE(file_->cut());
}

}  // namespace
}  // namespace mixwalk
