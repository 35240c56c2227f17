#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/remove_tree.h"

namespace mixwalk {

// A test of files, in an empty folder that is removed at its end.
class FolderTest : public testing::Test {
 protected:
  // `folder`: its name, which only this test program has.
  explicit FolderTest(const char* folder) : folder_(std::filesystem::path(testing::TempDir()) / folder) {}
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path folder_;
  const std::string name_ = (folder_ / "a").string();  // a file that does not exist yet
};

}  // namespace mixwalk
