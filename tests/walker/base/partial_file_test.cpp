#include "walker/base/partial_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/folder_test.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

class PartialFileTest : public FolderTest {
 protected:
  PartialFileTest() : FolderTest("mixwalk_partial_file_test") {}
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
};

TEST_F(PartialFileTest, TakesItsNameOnlyWhenWhole) {
  std::ofstream(name_) << "before";
  {
    PartialFile file(name_);
    EXPECT_TRUE(file.replaces());
    EXPECT_TRUE(file.write(std::string_view("a\0b\n", 4)));
    EXPECT_EQ(text_of(name_), "before");
    EXPECT_EQ(file.commit(), "");
  }
  EXPECT_EQ(text_of(name_), std::string("a\0b\n", 4));
  EXPECT_EQ(files(), 1u);
}

TEST_F(PartialFileTest, LeavesNothingWhenNotCommitted) {
  std::ofstream(name_) << "before";
  { PartialFile(name_).write("half"); }
  EXPECT_EQ(text_of(name_), "before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PartialFileTest, SaysWhyItCannotBeWritten) {
  for (const std::string& path : {folder_.string(), (folder_ / "no" / "such").string()}) {
    PartialFile file(path);
    EXPECT_NE(file.error(), "");
    EXPECT_FALSE(file.write("x"));
    EXPECT_NE(file.commit(), "");
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(PartialFileTest, NamesTheFolderThatIsMissing) {
  const PartialFile file(name_ + "-none/orders.html");
  EXPECT_EQ(file.error(), "there is no folder \"" + name_ + "-none\"");
}

TEST_F(PartialFileTest, NamesAreUtf8) {
  const std::string name = "Bestellungen \xC3\xBC\xE2\x82\xAC";
  PartialFile file(name_ + name);
  EXPECT_FALSE(file.replaces());
  EXPECT_EQ(file.commit(), "");
  EXPECT_TRUE(fs::exists(folder_ / fs::path(u8"aBestellungen \u00fc\u20ac")));
}

TEST_F(PartialFileTest, ALinkedFileKeepsItsContentUntilThereIsAnother) {
  std::error_code unsupported;
  fs::create_symlink(folder_ / "target", name_, unsupported);
  if (unsupported) GTEST_SKIP() << "this system has no links";
  std::ofstream(folder_ / "target") << "before, and longer";
  { PartialFile file(name_); }
  EXPECT_EQ(text_of(name_), "before, and longer");
  PartialFile file(name_);
  EXPECT_TRUE(file.write("after"));
  EXPECT_EQ(file.commit(), "");
  EXPECT_EQ(text_of(folder_ / "target"), "after");
  EXPECT_TRUE(fs::is_symlink(name_));
}

TEST_F(PartialFileTest, HasOneWriter) {
  std::ofstream(name_ + ".partial") << "left by a program that was ended, and longer";
  PartialFile first(name_);
  EXPECT_TRUE(first.write("first"));
  {
    PartialFile second(name_);
    EXPECT_EQ(second.error(), "another program is writing it");
    EXPECT_FALSE(second.write("second"));
    EXPECT_NE(second.commit(), "");
  }
  EXPECT_EQ(first.commit(), "");
  EXPECT_EQ(text_of(name_), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(PartialFileTest, WouldEmptyAFileOfItsTemporaryNameAndOneThatItLinksTo) {
  const std::string other = (folder_ / "b").string(), temporary = name_ + ".partial";
  for (const std::string& file : {name_, other, temporary}) std::ofstream(file) << "input";
  EXPECT_FALSE(would_empty(name_, name_));
  EXPECT_TRUE(would_overwrite(name_, name_));
  EXPECT_TRUE(would_overwrite((folder_ / "." / "a").string(), name_));
  EXPECT_FALSE(would_overwrite(name_, other));
  EXPECT_TRUE(would_empty(name_, temporary));
  EXPECT_FALSE(would_overwrite(name_, (folder_ / "none").string()));
  std::error_code unsupported;
  fs::create_symlink(other, folder_ / "link", unsupported);
  if (!unsupported) {
    EXPECT_TRUE(would_empty((folder_ / "link").string(), other));
  }
}

}  // namespace
}  // namespace mixwalk
