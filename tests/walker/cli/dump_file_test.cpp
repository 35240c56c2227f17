#include "walker/cli/dump_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"
#include "walker/cli/options/formats.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using test::DumpBuilder;
using test::kInApp;

struct Shown {
  ExitCode code = ExitCode::internal;
  std::string out, err;
};

Shown shown(const DumpBuilder& dump) {
  const fs::path path = fs::path(testing::TempDir()) / "mixwalk_dump_file_test.dmp";
  const std::vector<std::byte> bytes = dump.build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  NoImageFiles none;
  const DumpFileServices host{
      .local = none,
      .show_colours = [] { return false; },
      .open_clr = [](const Target&, const DumpFileCommand&, StoreFetch*) { return OpenedClr(); },
      .log = {}};
  DumpFileCommand command;
  command.file = path.string();
  command.format = format_by_name("text");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Shown result{.code = run(command, host), .out = {}, .err = {}};
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  fs::remove(path);
  return result;
}

TEST(DumpFile, ACrashComesFirstAndHasACodeOfItsOwn) {
  DumpBuilder dump = test::two_frames();
  dump.exception(0x1A8, 0xC0000005, kInApp, DumpBuilder::at(kInApp, test::stack_of(4)), {1, 0});
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::crash);
  constexpr std::string_view kFirst =
      "crash: access violation (0xc0000005): it wrote to 0x0, a null pointer\n"
      "  thread 0x1a8 \"Ada\" at app.exe!work+0x20\n\nprocess ";
  EXPECT_EQ(result.out.substr(0, kFirst.size()), kFirst) << result.out;
  EXPECT_EQ(shown(test::two_frames()).code, ExitCode::ok);
}

TEST(DumpFile, ADumpOfA32BitProcessSaysHowToGetARightOne) {
  DumpBuilder dump = test::two_frames();
  dump.module(0x7000'0000, 0x1000, 1, "C:\\Windows\\System32\\wow64.dll");
  dump.module(0x7100'0000, 0x1000, 1, "C:\\Windows\\System32\\wow64cpu.dll");
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::wrong_bitness);
  EXPECT_NE(result.err.find("SysWOW64"), std::string::npos) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

TEST(DumpFile, AnImageThatOverlapsAnotherIsNamed) {
  DumpBuilder dump = test::two_frames();
  dump.module(test::kAppBase + 0x800, 0x2'0000, 7, "C:\\app\\over.dll");
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_NE(result.err.find("an image is left out, because it overlaps another: C:\\app\\over.dll\n"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace mixwalk
