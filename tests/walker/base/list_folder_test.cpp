#include "walker/base/list_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/remove_tree.h"
#include "walker/base/partial_file.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

TEST(ListFolder, HasTheNamesOfFilesSorted) {
  const fs::path folder = fs::path(testing::TempDir()) / "mixwalk_list_folder_test";
  fs::create_directory(folder);
  EXPECT_TRUE(list_folder(folder).files.empty());
  for (const char8_t* name : {u8"b", u8"a.x", u8"\u00fc"}) std::ofstream(folder / name) << "x";
  fs::create_directory(folder / "c");
  const FolderListing listing = list_folder(folder);
  EXPECT_EQ(listing.error, "");
  EXPECT_EQ(listing.files, (std::vector<std::string>{"a.x", "b", "\xC3\xBC"}));
  for (const std::string& name : listing.files) EXPECT_TRUE(fs::exists(folder / path_of(name)));
  EXPECT_EQ(list_folder(folder / "none").error, "No such file or directory");
  EXPECT_TRUE(remove_tree(folder));
}

}  // namespace
}  // namespace mixwalk
