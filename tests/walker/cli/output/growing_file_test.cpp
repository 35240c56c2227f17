#include "walker/cli/output/growing_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/folder_test.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

class GrowingFileTest : public FolderTest {
 protected:
  GrowingFileTest() : FolderTest("mixwalk_growing_file_test") {}
  std::string content() const { return text_of(name_); }
};

TEST_F(GrowingFileTest, HasItsBytesAtOnce) {
  auto file = GrowingFile::open(name_);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->replaces());
  EXPECT_TRUE((*file)->write("one"));
  EXPECT_EQ(content(), "one");
  EXPECT_TRUE((*file)->write("two"));
  EXPECT_EQ(content(), "onetwo");
  file->reset();
  EXPECT_EQ(content(), "onetwo");
}

TEST_F(GrowingFileTest, ReplacesNothingBeforeTheFirstBytes) {
  std::ofstream(name_) << "before, and longer";
  auto file = GrowingFile::open(name_);
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->replaces());
  EXPECT_EQ(content(), "before, and longer");
  EXPECT_TRUE((*file)->write("after"));
  EXPECT_EQ(content(), "after");
}

// Also while it is open, because this program may be ended.
TEST_F(GrowingFileTest, LeavesNothingIfNothingIsWritten) {
  const auto file = GrowingFile::open(name_);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->replaces());
  EXPECT_FALSE(fs::exists(name_));
}

TEST_F(GrowingFileTest, ThatCannotBeWrittenIsKnownAtOnce) {
  for (const std::string& path : {folder_.string(), (folder_ / "no" / "such").string()}) {
    EXPECT_FALSE(GrowingFile::open(path));
  }
}

TEST_F(GrowingFileTest, ReplacesAFileThatCameMeanwhile) {
  const auto file = GrowingFile::open(name_);
  std::ofstream(name_) << "meanwhile, and longer";
  ASSERT_TRUE(file && (*file)->write("after"));
  EXPECT_EQ(content(), "after");
}

TEST_F(GrowingFileTest, HasOneWriter) {
  const auto first = GrowingFile::open(name_);
  ASSERT_TRUE(first && (*first)->write("first"));
  const auto second = GrowingFile::open(name_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.failure().code, ExitCode::output);
  EXPECT_TRUE(second.failure().message.ends_with(": another program is writing it")) << second.failure().message;
}

}  // namespace
}  // namespace mixwalk
