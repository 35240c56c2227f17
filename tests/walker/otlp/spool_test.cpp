#include "walker/otlp/spool.h"
#include "tests/support/remove_tree.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override { EXPECT_TRUE(remove_tree(folder_)); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  static std::vector<std::string> contents(const Spool& spool) {
    std::vector<std::string> all;
    for (const fs::path& file : spool.waiting()) {
      std::string bytes;
      EXPECT_EQ(spool.read(file, bytes), "");
      all.push_back(bytes);
    }
    return all;
  }
  static void write(const fs::path& file, std::string_view bytes = "\x1f\x8bx") {
    std::ofstream(file, std::ios::binary) << bytes;
  }
  using Contents = std::vector<std::string>;

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_spool_test";
  const CollectorUrl url_{.host = "localhost"};
};

TEST_F(SpoolTest, IsReadOldestFirst) {
  Spool spool(folder_, url_);
  ASSERT_EQ(spool.error(), "");
  EXPECT_TRUE(spool.waiting().empty());
  Contents all;
  for (int i = 0; i < 12; ++i) {
    all.push_back("request " + std::to_string(i));
    EXPECT_EQ(spool.add(all.back()), "");
  }
  EXPECT_EQ(contents(spool), all);
  // This spool is that of the next run.
  Spool again(folder_, url_);
  EXPECT_EQ(contents(again), all);
  EXPECT_EQ(again.remove(again.waiting().front()), "");
  EXPECT_EQ(again.add("last"), "");
  all.erase(all.begin());
  all.push_back("last");
  EXPECT_EQ(contents(spool), all);
}

TEST_F(SpoolTest, AClockThatWasSetBackChangesNoOrder) {
  const fs::path folder = Spool(folder_, url_).folder();
  write(folder / "009999999999999-ffffffff-000007.otlp.gz", "from the future");
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("later"), "");
  EXPECT_EQ(contents(spool), (Contents{"from the future", "later"}));
}

TEST_F(SpoolTest, EachCollectorHasItsOwn) {
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("one"), "");
  CollectorUrl other = url_;
  other.path = "/other";
  EXPECT_TRUE(Spool(folder_, other).waiting().empty());
  CollectorUrl ipv6{.host = "fe80::1"};
  EXPECT_EQ(Spool(folder_, ipv6).folder().filename().string().find(':'), std::string::npos);
  CollectorUrl dots{.host = ".."};
  EXPECT_EQ(Spool(folder_, dots).folder().parent_path(), folder_);
}

// The file is as it is if its writer ends between the write and the rename.
TEST_F(SpoolTest, WhatIsNotWholeIsNotSent) {
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("whole"), "");
  fs::path torn = spool.waiting().front();
  torn += ".partial";
  write(torn);
  EXPECT_EQ(contents(spool), Contents{"whole"});
  Spool soon(folder_, url_);
  EXPECT_TRUE(fs::exists(torn)) << "somebody may be writing it";
  fs::last_write_time(torn, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Spool later(folder_, url_);
  EXPECT_FALSE(fs::exists(torn));
  EXPECT_EQ(contents(later), Contents{"whole"});
}

TEST_F(SpoolTest, FilesThatNobodyHereWrote) {
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("ours"), "");
  const fs::path ours = spool.waiting().front();
  for (const char* name : {"notes.txt", "a.otlp.gz", ".otlp.gz", "000000000000001.otlp.gz.bak",
                           "00000000000000x-00000001-000001.otlp.gz"}) {
    write(spool.folder() / name);
  }
  fs::create_directory(spool.folder() / "000000000000001-00000001-000001.otlp.gz");
  std::error_code unsupported;  // under Wine
  fs::create_symlink(ours, spool.folder() / "000000000000002-00000001-000001.otlp.gz", unsupported);
  EXPECT_EQ(spool.waiting(), std::vector{ours});
}

TEST_F(SpoolTest, RefusesWhatHasNoRoom) {
  Spool spool(folder_, url_, std::uint64_t{1} << 20);
  const std::string request(600'000, 'a');
  EXPECT_EQ(spool.add(request), "");
  EXPECT_EQ(spool.add(request), "it is full (1 MiB)");
  EXPECT_EQ(spool.waiting().size(), 1u);
  // Refused requests also take space, so they count for the limit and nothing grows without end.
  EXPECT_EQ(spool.set_aside(spool.waiting().front()), "");
  EXPECT_TRUE(spool.waiting().empty());
  EXPECT_EQ(spool.add(request), "it is full (1 MiB)");
  EXPECT_EQ(spool.add("a"), "");
}

TEST_F(SpoolTest, AFileThatIsTooLargeIsNotRead) {
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("a"), "");
  fs::resize_file(spool.waiting().front(), Spool::kMaxFileBytes + 1);
  std::string bytes = "left";
  EXPECT_EQ(spool.read(spool.waiting().front(), bytes), "");
  EXPECT_EQ(bytes, "");
}

TEST_F(SpoolTest, AFolderThatCannotBeUsed) {
  write(folder_);
  EXPECT_NE(Spool(folder_, url_).error(), "");
  fs::remove(folder_);
  Spool first(folder_, url_);
  // This also works for root, whom permissions do not stop.
  fs::remove(first.folder() / "lock");
  fs::create_directory(first.folder() / "lock");
  EXPECT_NE(Spool(folder_, url_).error(), "");
}

TEST_F(SpoolTest, AFolderThatGoesAway) {
  Spool spool(folder_, url_);
  EXPECT_EQ(spool.add("a"), "");
  const fs::path file = spool.waiting().front();
  EXPECT_TRUE(remove_tree(folder_));
  std::string bytes;
  EXPECT_NE(spool.add("b"), "");
  EXPECT_TRUE(spool.waiting().empty());
  EXPECT_NE(spool.read(file, bytes), "");
  EXPECT_NE(spool.set_aside(file), "");
  EXPECT_EQ(spool.take_turn(), nullptr);
}

}  // namespace
}  // namespace mixwalk
