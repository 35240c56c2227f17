// A dump file is written from a clone of the process (PssCaptureSnapshot), while the process runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/suspend_counts.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

using testing::HasSubstr;

constexpr DWORD kWrittenMs = 120'000;
constexpr std::uint64_t kBegunBytes = 1 << 20;  // by then the tables are written, and the memory is being written

std::ptrdiff_t processes_named_hang() { return std::ranges::count(list_processes(), "hang.exe", &ProcessEntry::name); }

TEST(Clones, TheProcessRunsWhileItsCloneIsWritten) {
  if (GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "PssCaptureSnapshot") == nullptr) {
    GTEST_SKIP() << "this system has no PssCaptureSnapshot";
  }
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const std::string path = temporary_file("clones_test.dmp"), id = std::to_string(hang.id());
  const std::ptrdiff_t processes = processes_named_hang();
  const auto outside = dump_as_json(hang.id(), {"--outside"});

  ChildProcess writer({mixwalk_exe(), "dump", "-p", id, "-o", path});
  bool seen_writing = false, stood = false;
  while (writer.running()) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(utf8_path(path + ".partial"), error);
    if (error || bytes < kBegunBytes) continue;
    const bool stands = one_stands(hang.id());
    if (!writer.running()) break;
    seen_writing = true;
    stood |= stands;
  }
  EXPECT_EQ(writer.wait(kWrittenMs), 0u);
  EXPECT_TRUE(seen_writing) << "then this test says nothing; the program is too small";
  EXPECT_FALSE(stood);
  EXPECT_TRUE(all_are(suspend_counts(hang.id()), 0));
  EXPECT_EQ(processes_named_hang(), processes);

  const ProgramResult again = run_program({mixwalk_exe(), "dump", "-v", "-p", id, "-o", path}, kWrittenMs);
  EXPECT_EQ(again.exit_code, 0u);
  EXPECT_THAT(again.err, HasSubstr("(a clone was written)"));
  EXPECT_EQ(processes_named_hang(), processes);

  const ProgramResult read = run_program({mixwalk_exe(), "dump", path, "-f", "json"}, kWrittenMs);
  ASSERT_EQ(read.exit_code, 0u) << read.err;
  const auto dump = nlohmann::json::parse(read.out);
  EXPECT_EQ(dump.at("threads").size(), list_threads(hang.id())->size());
  expect_whole_threads(dump);
  for (const std::string& name : stuck_threads()) {
    SCOPED_TRACE(name);
    const auto* thread = dumped_thread(dump, name);
    const auto* seen = dumped_thread(outside, name);
    ASSERT_TRUE(thread != nullptr && seen != nullptr);
    EXPECT_EQ(dumped_frames(dump, *thread, Rvas::shown), dumped_frames(outside, *seen, Rvas::shown));
  }
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
  remove_file(path);
}

}  // namespace
}  // namespace mixwalk
