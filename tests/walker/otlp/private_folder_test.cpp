#include "walker/otlp/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/remove_tree.h"
#include "walker/otlp/spool.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

class PrivateFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(remove_tree(folder_.parent_path()));
    ::umask(0);
  }
  void TearDown() override {
    ::umask(S_IWGRP | S_IWOTH);
    EXPECT_TRUE(remove_tree(folder_.parent_path()));
  }
  static void expect_private(const fs::path& path) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_private_folder_test" / "spool";
};

TEST_F(PrivateFolderTest, TheSpoolIsOne) {
  const Spool spool(folder_, {.host = "localhost"});
  EXPECT_EQ(spool.error(), "");
  expect_private(spool.folder());
}

TEST_F(PrivateFolderTest, OneThatIsThereBecomesSo) {
  fs::create_directories(folder_);
  EXPECT_EQ(make_private_folder(folder_), "");
  expect_private(folder_);
}

TEST_F(PrivateFolderTest, AnothersIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directories(folder_);
  ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(make_private_folder(folder_), "it belongs to another user");
}

TEST_F(PrivateFolderTest, ALinkOrAFileIsNoFolder) {
  fs::create_directories(folder_.parent_path());
  fs::create_symlink("/", folder_);
  EXPECT_EQ(make_private_folder(folder_), "it is no folder");
  fs::remove(folder_);
  std::ofstream(folder_) << "x";
  EXPECT_EQ(make_private_folder(folder_), "it is no folder");
}

}  // namespace
}  // namespace mixwalk
