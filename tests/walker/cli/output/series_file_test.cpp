#include "walker/cli/output/series_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/builders/snapshot_builder.h"
#include "tests/support/remove_tree.h"
#include "walker/model/series.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The dump with this number of a series, in which each dump has a module that no earlier one has.
Snapshot dump_number(std::uint64_t number) {
  Snapshot dump = representative_snapshot();
  dump.unix_time_ms += 10'000 * number;
  dump.locks = {{.kind = LockKind::monitor, .address = 0x1000 + number, .type = "Orders.Book", .owner = 7}};
  for (Thread& thread : dump.threads) thread.cpu = 100 * number + thread.os_id;
  dump.modules.push_back({.base = 0x7FFF'0000'0000 + number * 0x1'0000, .size = 0x1000, .path = "C:\\late.dll"});
  return dump;
}

class SeriesFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  // What another program reads at this moment. A copy of the file is what is left if mixwalk is ended now.
  ReadRecording read() const { return read_recording(content_of(name_)); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_series_file_test";
  const std::string name_ = (folder_ / "a.mixwalk").string();
};

TEST_F(SeriesFileTest, HasEachDumpWhenItIsMade) {
  auto file = SeriesFile::open(name_);
  ASSERT_TRUE(file);
  for (std::uint64_t made = 1; made <= 3; ++made) {
    EXPECT_FALSE((*file)->add(dump_number(made)));
    EXPECT_EQ((*file)->dumps(), made);
    const ReadRecording cut = read();
    ASSERT_TRUE(cut.recording) << cut.error;
    EXPECT_EQ(cut.cut.kind, Cut::Kind::no_footer);
    const std::vector<Snapshot> dumps = to_series(*cut.recording);
    ASSERT_EQ(dumps.size(), made);
    for (std::uint64_t i = 1; i <= made; ++i) {
      Snapshot expected = to_series(to_recording(dump_number(i))).front();
      expected.modules = dumps[i - 1].modules;  // each dump has those of all
      EXPECT_EQ(dumps[i - 1], expected);
    }
    EXPECT_EQ(dumps[0].modules.size(), representative_snapshot().modules.size() + made);
  }
  EXPECT_FALSE((*file)->end());
  EXPECT_EQ(read().cut.kind, Cut::Kind::none);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "there is no other file";
}

TEST_F(SeriesFileTest, ReplacesNothingBeforeTheFirstDump) {
  std::ofstream(name_) << "good";
  {
    auto file = SeriesFile::open(name_);
    ASSERT_TRUE(file);
  }
  EXPECT_EQ(content_of(name_), "good");
  auto file = SeriesFile::open(name_);
  ASSERT_TRUE(file && !(*file)->add(dump_number(1)));
  EXPECT_TRUE(read().recording);
}

}  // namespace
}  // namespace mixwalk
