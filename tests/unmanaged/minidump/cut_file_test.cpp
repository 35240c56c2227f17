// Files that another program cuts while they are mapped. Windows lets nobody do that.

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
  std::filesystem::resize_file(path_, kLeft);
  EXPECT_EQ(file_->bytes()[kLeft - 1], std::byte{'x'});
  EXPECT_FALSE(file_->cut());
  EXPECT_EQ(file_->bytes()[kBytes / 2], std::byte{0});
  EXPECT_TRUE(file_->cut());
  EXPECT_EQ(file_->bytes()[kBytes - 1], std::byte{0});
  EXPECT_EQ(file_->bytes()[0], std::byte{'x'});
}

TEST_F(CutFile, AnotherFileIsNotCut) {
  const MappedFile other(path_.string());
  std::filesystem::resize_file(path_, kLeft);
  EXPECT_EQ(file_->bytes()[kBytes / 2], std::byte{0});
  EXPECT_TRUE(file_->cut());
  EXPECT_FALSE(other.cut());
  file_.emplace(path_.string());
  EXPECT_EQ(file_->bytes().size(), kLeft);
  EXPECT_FALSE(file_->cut());
}

}  // namespace
}  // namespace mixwalk
