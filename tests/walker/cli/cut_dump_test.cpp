// Another program, or the output itself, truncates a dump file while it is read. Windows allows neither.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/builders/dump_samples.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/options/formats.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

class CutDump : public ::testing::Test {
 protected:
  CutDump() : path_(fs::temp_directory_path() / "mixwalk-cut-dump-test.dmp") {
    const std::vector<std::byte> bytes = test::two_frames().build();
    std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()),
                                                 static_cast<std::streamsize>(bytes.size()));
  }
  ~CutDump() override { fs::remove(path_); }

  // The file is cut to this many bytes once its tables have been read.
  DumpFileServices host(std::uintmax_t left) {
    return {.local = none_,
            .show_colours = [] { return false; },
            .open_clr = [this, left](const Target&, const DumpFileCommand&, StoreFetch*) -> OpenedClr {
              if (left < fs::file_size(path_)) fs::resize_file(path_, left);
              return {.questions = nullptr, .obstacle = "the DAC is missing"};
            },
            .log = [](const std::string&) {}};
  }

  fs::path path_;
  NoImageFiles none_;
};

TEST_F(CutDump, IsRefusedInOneLineAndNothingIsWritten) {
  DumpFileCommand command;
  command.file = path_.string();
  command.format = format_by_name("text");
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(command, host(~0ull)), ExitCode::ok);
  EXPECT_NE(testing::internal::GetCapturedStdout(), "");
  const std::string whole = testing::internal::GetCapturedStderr();
  EXPECT_NE(whole.find(": managed frames are missing: the DAC is missing\n"), std::string::npos) << whole;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(command, host(4096)), ExitCode::input);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_NE(err.find("it became shorter while it was read"), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
}

TEST_F(CutDump, IsNotWrittenOverByItsOwnStacks) {
  const auto size = fs::file_size(path_);
  const fs::path link = path_.parent_path() / "mixwalk-cut-dump-test-link";
  fs::remove(link);
  fs::create_symlink(path_, link);
  for (const fs::path& output : {path_, link}) {
    DumpFileCommand command;
    command.file = path_.string();
    command.format = format_by_name("text");
    command.output = output.string();
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(command, host(~0ull)), ExitCode::output);
    const std::string err = testing::internal::GetCapturedStderr();
    EXPECT_NE(err.find("that would overwrite the dump file that is read"), std::string::npos) << err;
    EXPECT_EQ(fs::file_size(path_), size);
  }
  fs::remove(link);
}

TEST_F(CutDump, MayComeFromStandardInput) {
  std::ifstream file(path_, std::ios::binary);
  std::streambuf* const usual = std::cin.rdbuf(file.rdbuf());
  DumpFileCommand command;
  command.file = "-";
  command.format = format_by_name("text");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(command, host(~0ull)), ExitCode::ok);
  const std::string piped = testing::internal::GetCapturedStdout();
  std::cin.rdbuf(usual);
  std::cin.clear();
  command.file = path_.string();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(command, host(~0ull)), ExitCode::ok);
  EXPECT_EQ(piped, testing::internal::GetCapturedStdout());
}

TEST_F(CutDump, AWordThatIsNoFileWasPresumablyMeantAsAProcess) {
  const auto err_of = [&](const std::string& file) {
    DumpFileCommand command;
    command.file = file;
    command.format = format_by_name("text");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(command, host(~0ull)), ExitCode::input);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(err_of("orders").find("; a process's name goes after -n, a program after --\n"), std::string::npos);
  EXPECT_EQ(err_of("orders.dmp").find("a process's name"), std::string::npos);
}

TEST_F(CutDump, IsNoDumpToCompare) {
  DumpFileCommand command;
  command.file = path_.string();
  const auto snapshot = read_dump_file(command, host(4096));
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.failure().code, ExitCode::input);
}

}  // namespace
}  // namespace mixwalk
