#include "walker/cli/win/record_output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"
#include "tests/support/remove_tree.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a target sends: a complete file with the whole recording.
std::string sent() {
  const Recording recording = representative_recording();
  StringSink sink;
  RecordingWriter writer(sink);
  EXPECT_TRUE(writer.begin(recording) && writer.append(recording));
  return sink.text;
}

class RecordOutputTest : public ::testing::Test {
 protected:
  RecordOutputTest() : folder_(fs::temp_directory_path() / "record_output_test") {
    EXPECT_TRUE(remove_tree(folder_));
    fs::create_directory(folder_);
    command_.output = path("orders.mixwalk");
    command_.format = format_by_name("mixwalk");
  }
  ~RecordOutputTest() override { EXPECT_TRUE(remove_tree(folder_)); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  // The limit is so small that each file is full after the first samples.
  std::unique_ptr<RecordOutput> open() {
    auto output = RecordOutput::open(command_, {.samples = 1});
    EXPECT_TRUE(output);
    (*output)->begin(collector_);
    return std::move(*output);
  }
  void collect() { EXPECT_EQ(collector_.add(sent(), true), ""); }
  static void expect_whole(const std::string& file) {
    const ReadRecording read = read_recording(content_of(file));
    ASSERT_TRUE(read.recording) << file << ": " << read.error;
    EXPECT_EQ(read.cut.kind, Cut::Kind::none) << file;
    EXPECT_EQ(read.recording->samples.size(), representative_recording().samples.size()) << file;
  }

  fs::path folder_;
  RecordCommand command_;
  RecordingCollector collector_{[](Frame frame, const Module&) { return std::vector{std::move(frame)}; }};
};

TEST_F(RecordOutputTest, WhereAFileIsFullTheRecordingGoesOnInAFurtherOne) {
  auto output = open();
  for (int piece = 1; piece <= 3; ++piece) {
    collect();
    ASSERT_FALSE(output->take());
    ASSERT_TRUE(output->is_full());
    ASSERT_TRUE(output->has_pieces());
    ASSERT_FALSE(output->cut());
  }
  EXPECT_FALSE(output->finish());
  const std::string last = path("orders.3.mixwalk");
  EXPECT_EQ(output->said(), "wrote 3 files, \"" + *command_.output + "\" to \"" + last + "\"");
  output.reset();
  expect_whole(*command_.output);
  expect_whole(path("orders.2.mixwalk"));
  expect_whole(last);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(RecordOutputTest, FurtherFilesOfAnEarlierRecordingAreSetAside) {
  for (const char* name : {"orders.2.mixwalk", "orders.3.mixwalk", "orders.5.mixwalk"}) {
    std::ofstream(path(name)) << "before " << name;
  }
  std::ofstream(path("orders.2.mixwalk.old")) << "long before";
  std::ofstream(path("orders.v2.mixwalk")) << "another recording";
  auto output = open();
  EXPECT_TRUE(fs::exists(path("orders.2.mixwalk"))) << "nothing is done before there is a sample";
  collect();
  ASSERT_FALSE(output->take() || output->cut());
  collect();
  ASSERT_FALSE(output->take() || output->finish());
  output.reset();
  expect_whole(path("orders.2.mixwalk"));
  EXPECT_FALSE(fs::exists(path("orders.3.mixwalk")));
  EXPECT_FALSE(fs::exists(path("orders.5.mixwalk")));
  EXPECT_EQ(content_of(path("orders.2.mixwalk.old")), "long before");
  EXPECT_EQ(content_of(path("orders.2.mixwalk.old2")), "before orders.2.mixwalk");
  EXPECT_EQ(content_of(path("orders.3.mixwalk.old")), "before orders.3.mixwalk");
  EXPECT_EQ(content_of(path("orders.5.mixwalk.old")), "before orders.5.mixwalk");
  EXPECT_EQ(content_of(path("orders.v2.mixwalk")), "another recording");
}

TEST_F(RecordOutputTest, AFurtherFileThatComesMeanwhileIsReplaced) {
  auto output = open();
  collect();
  ASSERT_FALSE(output->take() || output->cut());
  std::ofstream(path("orders.2.mixwalk")) << "meanwhile";
  collect();
  ASSERT_FALSE(output->take() || output->finish());
  EXPECT_TRUE(output->said().ends_with("orders.2.mixwalk\", in place of those that were there"))
      << output->said();
  output.reset();
  expect_whole(path("orders.2.mixwalk"));
}

TEST_F(RecordOutputTest, AFurtherFileThatCannotBeOpenedIsNamed) {
  auto output = open();
  collect();
  ASSERT_FALSE(output->take() || output->cut());
  fs::create_directory(path("orders.2.mixwalk"));
  collect();
  const auto failure = output->take();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ExitCode::output);
  EXPECT_NE(failure->message.find("orders.2.mixwalk"), std::string::npos) << failure->message;
  const auto at_end = output->finish();
  ASSERT_TRUE(at_end) << "samples are missing";
  EXPECT_EQ(at_end->message, failure->message);
  output.reset();
  expect_whole(*command_.output);
}

TEST_F(RecordOutputTest, WithoutASampleThereIsOneFile) {
  auto output = open();
  EXPECT_FALSE(output->finish());
  EXPECT_EQ(output->said(), "wrote \"" + *command_.output + "\"");
  output.reset();
  EXPECT_TRUE(read_recording(content_of(*command_.output)).recording);
}

TEST_F(RecordOutputTest, WithoutASampleAFileThatWasThereStays) {
  for (const char* name : {"orders.mixwalk", "orders.folded"}) {
    command_.output = path(name);
    command_.format = format_by_path(name);
    std::ofstream(*command_.output) << "good";
    std::ofstream(path("orders.2.mixwalk")) << "further";
    RecordingCollector begun{[](Frame frame, const Module&) { return std::vector{std::move(frame)}; }};
    auto output = RecordOutput::open(command_);
    ASSERT_TRUE(output);
    (*output)->begin(begun);
    EXPECT_FALSE((*output)->take() || (*output)->finish());
    EXPECT_EQ((*output)->said(),
              "there is no sample to write, so \"" + *command_.output + "\" stays as it was");
    output->reset();
    EXPECT_EQ(content_of(*command_.output), "good");
    EXPECT_EQ(content_of(path("orders.2.mixwalk")), "further");
  }
}

TEST_F(RecordOutputTest, AnotherFormatIsWrittenAtTheEnd) {
  command_.output = path("orders.folded");
  command_.format = format_by_path(*command_.output);
  auto output = open();
  collect();
  ASSERT_FALSE(output->take());
  EXPECT_TRUE(output->is_full());
  EXPECT_FALSE(output->has_pieces());
  EXPECT_FALSE(fs::exists(*command_.output));
  EXPECT_FALSE(output->finish());
  EXPECT_FALSE(content_of(*command_.output).empty());
}

}  // namespace
}  // namespace mixwalk
