#include "walker/cli/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/builders/recordings.h"
#include "tests/support/golden.h"
#include "tests/support/remove_tree.h"
#include "walker/cli/output/write_output.h"
#include "walker/model/series.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

struct Result {
  ExitCode code = ExitCode::internal;
  std::string out, err;
};

class ConvertTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Converts a file with these bytes.
  Result convert(const std::string& bytes, const std::string& format,
                 const std::string& output = "-") const {
    std::ofstream(path("in"), std::ios::binary) << bytes;
    return convert_file(path("in"), format, output);
  }

  static Result convert_file(const std::string& input, const std::string& format,
                             const std::string& output = "-") {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const ExitCode code = run(ConvertCommand{input, output, format_by_name(format)});
    Result result{code, testing::internal::GetCapturedStdout(),
                  testing::internal::GetCapturedStderr()};
    if (!result.err.empty()) {
      EXPECT_TRUE(result.err.starts_with("mixwalk: ")) << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    return result;
  }

  static std::string golden(const std::string& name) {
    const std::string bytes = file_text(golden_file(name));
    EXPECT_FALSE(bytes.empty()) << name;
    return bytes;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_convert_test";
};

TEST_F(ConvertTest, ToAFile) {
  const Result result = convert(golden("dump.mixwalk"), "json", path("out.json"));
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "mixwalk: wrote \"" + path("out.json") + "\"\n");
  const std::string again = convert(golden("dump.mixwalk"), "json", path("out.json")).err;
  EXPECT_TRUE(again.ends_with("\" in place of the file that was there\n")) << again;
  const std::string json = file_text(path("out.json"));
  EXPECT_TRUE(json.starts_with("{\n \"format\": \"mixwalk-dump\"")) << json.substr(0, 40);
  EXPECT_TRUE(json.ends_with("}\n"));
}

TEST_F(ConvertTest, ToStandardOutput) {
  const Result result = convert(golden("dump.mixwalk"), "text");
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with("process 4711  C:\\orders\\orders.exe")) << result.out;
}

TEST_F(ConvertTest, ARecordingToItselfIsTheSameBytes) {
  const Result result = convert(golden("wall.mixwalk"), "mixwalk", path("in"));
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_EQ(file_text(path("in")), golden("wall.mixwalk"));
}

TEST_F(ConvertTest, SaysWhatWasCutAndConvertsTheRest) {
  const std::string whole = golden("dump.mixwalk");
  // The footer of a dump without a duration has a checksum, a tag and a length: seven bytes.
  const Result unended = convert(whole.substr(0, whole.size() - 7), "text");
  EXPECT_EQ(unended.code, ExitCode::ok);
  EXPECT_EQ(unended.out, convert(whole, "text").out);
  EXPECT_NE(unended.err.find("the recording was interrupted: it has no end"), std::string::npos)
      << unended.err;
  const Result torn = convert(whole.substr(0, whole.size() - 8), "text");
  EXPECT_EQ(torn.code, ExitCode::input) << "its only dump is torn";
  EXPECT_NE(torn.err.find("ends within a chunk, and its last"), std::string::npos) << torn.err;
  const Result longer = convert(whole + "x", "text");
  EXPECT_EQ(longer.code, ExitCode::ok);
  EXPECT_NE(longer.err.find("goes on after its end: 1 byte is left out"), std::string::npos)
      << longer.err;
}

TEST_F(ConvertTest, APageOfACutRecordingSaysSo) {
  const std::string whole = golden("wall.mixwalk");
  const std::string cut = convert(whole.substr(0, whole.size() - 1), "html").out;
  EXPECT_NE(cut.find(R"("note":"\")"), std::string::npos);
  EXPECT_NE(cut.find("the recording was interrupted"), std::string::npos);
  EXPECT_EQ(convert(whole, "html").out.find(R"("note":)"), std::string::npos);
}

TEST_F(ConvertTest, WhatCannotBeRead) {
  const Result missing = convert_file(path("missing"), "text");
  EXPECT_EQ(missing.code, ExitCode::input);
  EXPECT_NE(missing.err.find("missing\": No such file"), std::string::npos) << missing.err;
  EXPECT_EQ(convert_file(folder_.string(), "text").code, ExitCode::input);
  const Result other = convert("PK\3\4", "text", path("out"));
  EXPECT_EQ(other.code, ExitCode::input);
  EXPECT_NE(other.err.find("it is compressed: unpack it"), std::string::npos) << other.err;
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_EQ(convert("", "text").code, ExitCode::input);
}

TEST_F(ConvertTest, AFormatThatCannotShowTheRecording) {
  const Result result = convert(golden("wall.mixwalk"), "json", path("out"));
  EXPECT_EQ(result.code, ExitCode::input);
  EXPECT_NE(result.err.find("cannot be written as json: it shows one moment"), std::string::npos)
      << result.err;
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(ConvertTest, FilesOfOtherCommandsNameThem) {
  EXPECT_NE(convert("MDMP and so on", "text").err.find(
                "it is a minidump (.dmp), which convert does not take: dump, compare and report do"),
            std::string::npos);
  EXPECT_NE(convert(golden("dump.json"), "text").err.find("it is a dump in JSON, which convert does not take"),
            std::string::npos);
}

TEST_F(ConvertTest, ASeriesIsNotMixedIntoOneDump) {
  const auto read = read_recording(golden("dump.mixwalk"));
  ASSERT_TRUE(read.recording);
  std::vector<Snapshot> dumps(3, to_series(*read.recording).front());
  StringSink series;
  ASSERT_TRUE(write_store(series_recording(dumps), series));
  const Result json = convert(series.text, "json", path("out"));
  EXPECT_EQ(json.code, ExitCode::input);
  EXPECT_NE(json.err.find("it has room for one dump, and there are 3; text and html show all of them"),
            std::string::npos)
      << json.err;
  EXPECT_FALSE(fs::exists(path("out")));
  const std::string one = convert(golden("dump.mixwalk"), "text").out, three = convert(series.text, "text").out;
  std::size_t count = 0;
  constexpr char kHead[] = "process 4711  C:\\orders\\orders.exe";
  for (std::size_t at = 0; (at = three.find(kHead, at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u);
  EXPECT_TRUE(three.starts_with(one + "\n")) << three;
}

TEST_F(ConvertTest, WhatCannotBeWritten) {
  const Result result = convert(golden("dump.mixwalk"), "text", path("no/such/folder"));
  EXPECT_EQ(result.code, ExitCode::output);
  EXPECT_NE(result.err.find("cannot write"), std::string::npos) << result.err;
}

TEST_F(ConvertTest, TheRecordingItselfIsNotWrittenOverInAnotherFormat) {
  const std::string bytes = golden("wall.mixwalk");
  const std::string by_another_way = (folder_ / "." / "in").string();
  for (const std::string& output : {path("in"), by_another_way}) {
    const Result result = convert(bytes, "speedscope", output);
    EXPECT_EQ(result.code, ExitCode::output);
    EXPECT_NE(result.err.find("that would overwrite the recording that is read"), std::string::npos) << result.err;
    EXPECT_EQ(file_text(path("in")), bytes);
  }
  // The file has the name that "out" has while it is being written.
  std::ofstream(path("out.partial"), std::ios::binary) << bytes;
  EXPECT_EQ(convert_file(path("out.partial"), "mixwalk", path("out")).code, ExitCode::output);
  EXPECT_EQ(file_text(path("out.partial")), bytes);
}

// "cut" keeps the bytes that a later look may need.
TEST_F(ConvertTest, AFileThatWasCutOffIsNotReplaced) {
  const std::string wall = golden("wall.mixwalk");
  std::ofstream(path("cut"), std::ios::binary) << wall.substr(0, wall.size() - 10);
  const Result result = convert_file(path("cut"), "mixwalk", path("cut"));
  EXPECT_EQ(result.code, ExitCode::output);
  EXPECT_NE(result.err.find("which was cut off; name another file"), std::string::npos) << result.err;
  EXPECT_EQ(file_text(path("cut")).size(), wall.size() - 10);
  EXPECT_EQ(convert_file(path("cut"), "mixwalk").code, ExitCode::ok);
}

TEST_F(ConvertTest, ADumpOfWhichNothingIsLeftIsRefused) {
  const std::string dump = golden("dump.mixwalk");
  std::ofstream(path("cut"), std::ios::binary) << dump.substr(0, dump.size() / 2);
  const Result result = convert_file(path("cut"), "text");
  EXPECT_EQ(result.code, ExitCode::input);
  EXPECT_NE(result.err.find("no thread is left: make the dump again"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST_F(ConvertTest, FromStandardInput) {
  std::istringstream input(golden("dump.mixwalk"));
  std::streambuf* const usual = std::cin.rdbuf(input.rdbuf());
  const Result result = convert_file("-", "text");
  std::istringstream other("no recording");
  std::cin.rdbuf(other.rdbuf());
  std::cin.clear();
  const Result refused = convert_file("-", "text");
  std::cin.rdbuf(usual);
  std::cin.clear();
  EXPECT_EQ(result.code, ExitCode::ok) << result.err;
  EXPECT_EQ(result.out, convert(golden("dump.mixwalk"), "text").out);
  EXPECT_NE(refused.err.find("cannot read standard input: it is a text file; convert takes .mixwalk files"),
            std::string::npos)
      << refused.err;
}

TEST_F(ConvertTest, AllIsRefusedWhereItChangesNothing) {
  std::ofstream(path("dump"), std::ios::binary) << golden("dump.mixwalk");
  std::ofstream(path("wall"), std::ios::binary) << golden("wall.mixwalk");
  const auto all = [&](const std::string& file, const std::string& format) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    ConvertCommand command{path(file), "-", format_by_name(format)};
    command.filter.all = true;
    const ExitCode code = run(command);
    testing::internal::GetCapturedStdout();
    const std::string err = testing::internal::GetCapturedStderr();
    if (code != ExitCode::ok) {
      EXPECT_NE(err.find("--all cannot be used with "), std::string::npos) << err;
    }
    return code;
  };
  EXPECT_EQ(all("dump", "text"), ExitCode::ok);
  EXPECT_EQ(all("dump", "json"), ExitCode::usage);
  EXPECT_EQ(all("wall", "pprof"), ExitCode::usage);
}

// Bytes that are not for people would change the terminal's state.
TEST_F(ConvertTest, ABinaryFormatIsNotForATerminal) {
  for (const RecordingFormat& format : recording_formats()) {
    const bool binary = format.name == "mixwalk" || format.name == "otlp" || format.name == "pprof";
    const auto refused = refuse_terminal(format, std::nullopt, true);
    EXPECT_EQ(refused.has_value(), binary) << format.name;
    if (refused) {
      EXPECT_EQ(refused->code, ExitCode::usage);
      EXPECT_EQ(refused->message, "the format " + std::string(format.name) +
                                      " is not for a terminal: name a file with -o, or redirect standard output");
    }
    EXPECT_FALSE(refuse_terminal(format, "file", true)) << format.name;
    EXPECT_FALSE(refuse_terminal(format, std::nullopt, false)) << format.name;
  }
}

TEST_F(ConvertTest, AHostileFileNameStaysOnItsLine) {
  const Result result = convert_file("a\nb\x1b[31m", "text");
  EXPECT_EQ(result.code, ExitCode::input);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(ConvertTest, APartOfARecording) {
  const std::string bytes = golden("sqlite.mixwalk");
  const Recording whole = *read_recording(bytes).recording;
  std::ofstream(path("in"), std::ios::binary) << bytes;
  const auto part = [&](std::optional<std::uint32_t> from_ms, std::optional<std::uint32_t> to_ms) {
    ConvertCommand command{path("in"), path("part"), format_by_name("mixwalk")};
    command.from_ms = from_ms;
    command.to_ms = to_ms;
    EXPECT_EQ(run(command), ExitCode::ok);
    return *read_recording(file_text(path("part"))).recording;
  };
  // A part never replaces the whole.
  ConvertCommand onto_itself{path("in"), path("in"), format_by_name("mixwalk")};
  onto_itself.from_ms = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(onto_itself), ExitCode::output);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(file_text(path("in")), bytes);
  const auto samples_from = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    return static_cast<std::size_t>(
        std::ranges::count_if(whole.samples, [&](const Recording::Sample& sample) {
          return sample.time_ns >= from_ns && sample.time_ns < to_ns;
        }));
  };
  ASSERT_GT(samples_from(200'000'000, 600'000'000), 0u);
  ASSERT_GT(samples_from(600'000'000, UINT64_MAX), 0u);
  const Recording middle = part(200, 600);
  EXPECT_EQ(middle.samples.size(), samples_from(200'000'000, 600'000'000));
  EXPECT_EQ(middle.unix_time_ms, whole.unix_time_ms + 200);
  EXPECT_EQ(middle.duration_ns, 400'000'000u);
  EXPECT_EQ(middle.event, whole.event);
  EXPECT_EQ(part({}, 600).samples.size(), samples_from(0, 600'000'000));
  EXPECT_EQ(part(200, {}).samples.size(), samples_from(200'000'000, UINT64_MAX));
  EXPECT_EQ(part(0, 86'400'000).samples.size(), whole.samples.size());
}

TEST_F(ConvertTest, APartOfWhatHasNone) {
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path("in"), std::ios::binary) << bytes;
    ConvertCommand command{path("in"), path("part"), format_by_name("mixwalk")};
    command.from_ms = 3'600'000;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(command), ExitCode::usage);
    EXPECT_FALSE(fs::exists(path("part")));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(
      refused(golden("dump.mixwalk")).find("is a dump: --from and --to take a part of a recording"),
      std::string::npos);
  EXPECT_NE(refused(golden("wall.mixwalk")).find(" s long: nothing of it is after --from"),
            std::string::npos);
}

TEST_F(ConvertTest, AFileThatNoBrowserOpens) {
  RecordingFormat format = *format_by_name("speedscope");
  const auto said = [&] {
    std::ofstream(path("in"), std::ios::binary) << golden("wall.mixwalk");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(ConvertCommand{path("in"), path("out.speedscope.json"), &format}), ExitCode::ok);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(), "mixwalk: wrote \"" + path("out.speedscope.json") + "\"\n");
  format.browser_bytes = 1000;
  const std::string line = said();
  EXPECT_NE(line.find("but browsers open about"), std::string::npos) << line;
  EXPECT_NE(line.find("--from TIME --to TIME"), std::string::npos) << line;
}

}  // namespace
}  // namespace mixwalk
