#include "tests/support/remove_tree.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(testing::TempDir()) / "mixwalk_remove_tree_test";

TEST(RemoveTree, WhatIsNotThereIsGone) { EXPECT_TRUE(remove_tree(kFolder / "none")); }

TEST(RemoveTree, FoldersInFolders) {
  fs::create_directories(kFolder / "a" / "b");
  std::ofstream(kFolder / "a" / "b" / "c") << "c";
  EXPECT_TRUE(remove_tree(kFolder));
  EXPECT_FALSE(fs::exists(kFolder));
}

// With std::filesystem::remove_all this case never ends (see remove_tree.h).
TEST(RemoveTree, FilesThatVanishMeanwhile) {
  for (int round = 0; round < 100; ++round) {
    fs::create_directories(kFolder / "work");
    std::vector<HANDLE> open;
    for (int i = 0; i < 6; ++i) {
      open.push_back(CreateFileW((kFolder / "work" / std::to_string(i)).c_str(), GENERIC_WRITE,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, CREATE_ALWAYS, 0,
                                 nullptr));
    }
    std::thread closer([&] {
      for (const HANDLE file : open) {
        CloseHandle(file);
        SwitchToThread();
      }
    });
    EXPECT_TRUE(remove_tree(kFolder));
    closer.join();
  }
}

}  // namespace
}  // namespace mixwalk
