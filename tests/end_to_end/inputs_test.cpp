// Tests what people give to mixwalk.exe: names with wildcards, programs that are not the ones that are meant, and files
// that a visit must not cost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/recorded_file.h"
#include "tests/support/golden.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kShell[] = "C:\\windows\\system32\\cmd.exe";
constexpr DWORD kTimeMs = 120'000;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// A folder that is the current one while this object lives.
class CurrentFolder {
 public:
  CurrentFolder() : before_(fs::current_path()), folder_(utf8_path(temporary_file("inputs"))) {
    EXPECT_TRUE(remove_tree(folder_));
    fs::create_directory(folder_);
    fs::current_path(folder_);
  }
  ~CurrentFolder() {
    fs::current_path(before_);
    EXPECT_TRUE(remove_tree(folder_));
  }
  const fs::path& path() const { return folder_; }

 private:
  fs::path before_, folder_;
};

TEST(Inputs, AShellOfWindowsLeavesWildcardsToMixwalk) {
  const CurrentFolder folder;
  for (const char* name : {"a.mixwalk", "b.mixwalk"}) {
    std::ofstream(folder.path() / name, std::ios::binary) << file_text(golden_file("wall.mixwalk"));
  }
  const ProgramResult compared = run_program({kShell, "/c", mixwalk_exe(), "compare", "*.mixwalk"});
  EXPECT_EQ(compared.exit_code, 0u) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("b.mixwalk"));
  const ProgramResult none = run_program({kShell, "/c", mixwalk_exe(), "compare", "*.dmp"});
  EXPECT_EQ(none.exit_code, static_cast<DWORD>(ExitCode::input));
  EXPECT_EQ(none.err, "mixwalk: cannot read \"*.dmp\": no file in the current folder has such a name\n");
}

TEST(Inputs, A32BitProgramIsNotStarted) {
  const ProgramResult result = run_program({mixwalk_exe(), "dump", "--", fixture("sleeper32.exe")});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::wrong_bitness));
  EXPECT_THAT(result.err, HasSubstr("mixwalk: \"sleeper32.exe\" is a 32-bit program; mixwalk walks x64 only"));
}

TEST(Inputs, ALaunchersChildIsNamed) {
  const std::string log = temporary_file("launcher.log");
  ChildProcess dumper(
      {mixwalk_exe(), "dump", "--timeout", "60s", "--after", "0s", "--", kShell, "/c", fixture("hang.exe")},
      StartOptions{.err_file = log});
  ASSERT_TRUE(dumper.read_line().value_or("").starts_with("READY"));
  EXPECT_EQ(dumper.wait(kTimeMs), static_cast<DWORD>(ExitCode::not_dotnet));
  EXPECT_THAT(bytes_of(log), testing::ContainsRegex("cmd.exe. did not load a .NET runtime: its child process \\d+ "
                                                    ".hang.exe. has the .NET runtime: look at it with -p \\d+"));
  remove_file(log);
  dumper.write_line("STOP");
}

// The launcher ends at once, before its child has loaded the runtime.
TEST(Inputs, TheChildOfALauncherThatHasEndedIsNamed) {
  const std::string log = temporary_file("launcher.log");
  ChildProcess dumper({mixwalk_exe(), "dump", "--after", "60s", "--", fixture("launcher.exe"), fixture("hang.exe")},
                      StartOptions{.err_file = log});
  EXPECT_EQ(dumper.wait(kTimeMs), static_cast<DWORD>(ExitCode::target_exited));
  EXPECT_THAT(bytes_of(log), testing::ContainsRegex("before the time of --after: its child process \\d+ .hang.exe. has "
                                                    "the .NET runtime"));
  remove_file(log);
}

// Nothing connects the last program with the first one but the environment, by which mixwalk.dll comes into it.
TEST(Inputs, TheGrandchildOfALauncherIsNamedWhenItsParentHasEnded) {
  const std::string log = temporary_file("launcher.log");
  ChildProcess dumper({mixwalk_exe(), "dump", "--after", "60s", "--", fixture("launcher.exe"), fixture("launcher.exe"),
                       fixture("hang.exe")},
                      StartOptions{.err_file = log});
  EXPECT_EQ(dumper.wait(kTimeMs), static_cast<DWORD>(ExitCode::target_exited));
  EXPECT_THAT(bytes_of(log), testing::ContainsRegex("before the time of --after: its child process \\d+ .hang.exe. has "
                                                    "the .NET runtime"));
  remove_file(log);
}

TEST(Inputs, ANativeAotProgramIsReadFromOutside) {
  ChildProcess program({fixture("native_aot.exe")});
  ASSERT_TRUE(program.read_line());
  const std::string id = std::to_string(program.id());
  const ProgramResult dumped = run_program({mixwalk_exe(), "dump", "-p", id, "-f", "json"});
  EXPECT_EQ(dumped.exit_code, 0u) << dumped.err;
  const auto json = nlohmann::json::parse(dumped.out);
  EXPECT_EQ(json.at("way"), "outside");
  EXPECT_FALSE(json.at("threads").empty());
  const ProgramResult listed = run_program({mixwalk_exe(), "ps"});
  EXPECT_THAT(listed.out, testing::ContainsRegex(id + "  native_aot.exe +NativeAOT"));
  const ProgramResult started = run_program({mixwalk_exe(), "dump", "--", fixture("native_aot.exe")});
  EXPECT_EQ(started.exit_code, static_cast<DWORD>(ExitCode::refused));
  EXPECT_THAT(started.err, HasSubstr("\"native_aot.exe\" is a NativeAOT program"));
}

// Under a name of its own, because a helper of an earlier mixwalk may be ending.
TEST(Inputs, MixwalkDoesNotFindItself) {
  const CurrentFolder folder;
  fs::copy_file(utf8_path(mixwalk_exe()), folder.path() / "itself.exe");
  const std::string itself = (folder.path() / "itself.exe").string();
  const ProgramResult result = run_program({itself, "dump", "--outside", "-n", "itself"});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_process)) << result.err;
}

TEST(Inputs, AnIdOfNoProcessOpensNoOther) {
  ChildProcess program({fixture("native_aot.exe")});
  ASSERT_TRUE(program.read_line());
  for (const DWORD more : {1, 2, 3}) {
    const std::string id = std::to_string(program.id() + more);
    for (const char* side : {"--inside", "--outside"}) {
      const ProgramResult result = run_program({mixwalk_exe(), "dump", side, "-p", id});
      EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_process)) << result.err;
      EXPECT_THAT(result.err, HasSubstr("no process with id " + id));
    }
  }
}

using NtSuspendProcess = LONG(NTAPI*)(HANDLE);

NtSuspendProcess all_threads(const char* name) {
  return reinterpret_cast<NtSuspendProcess>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll"), name)));
}

// mixwalk is ended while it waits for its first answer, and in the middle of a series.
TEST(Inputs, AnEndedMixwalkLeavesGoodFilesOnly) {
  const CurrentFolder folder;
  std::ofstream("good.json") << "good";
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const std::string id = std::to_string(hang.id());
  ASSERT_EQ(all_threads("NtSuspendProcess")(hang.handle()), 0);
  {
    ChildProcess dumper({mixwalk_exe(), "dump", "--inside", "-p", id, "-o", "good.json", "--timeout", "60s"});
    const ULONGLONG end = GetTickCount64() + kTimeMs;
    while (!fs::exists("good.json.partial") && GetTickCount64() < end) Sleep(20);
    EXPECT_TRUE(fs::exists("good.json.partial"));
    dumper.terminate();
    EXPECT_TRUE(dumper.wait(kTimeMs));
  }
  ASSERT_EQ(all_threads("NtResumeProcess")(hang.handle()), 0);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("good.json"));
  EXPECT_EQ(bytes_of("good.json"), "good");
  {
    ChildProcess dumper({mixwalk_exe(), "dump", "--outside", "-p", id, "-o", "series.mixwalk", "--repeat", "3",
                         "--every", "10m", "-v"},
                        StartOptions{.err_file = "log"});
    EXPECT_TRUE(has_text("log", "dump 1 of 3", kTimeMs)) << bytes_of("log");
    dumper.terminate();
    EXPECT_TRUE(dumper.wait(kTimeMs));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("good.json", "log", "series.mixwalk"));
  const ProgramResult report = run_program({mixwalk_exe(), "report", "series.mixwalk"});
  EXPECT_EQ(report.exit_code, static_cast<DWORD>(ExitCode::deadlock)) << report.err;
  EXPECT_THAT(report.err, HasSubstr("\"series.mixwalk\": the recording was interrupted: it has no end"));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST(Inputs, ARecordingWithoutSamplesCostsNoFile) {
  const CurrentFolder folder;
  std::ofstream("good.mixwalk") << "good";
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const ProgramResult result = run_program(
      {mixwalk_exe(), "record", "-p", std::to_string(hang.id()), "-d", "1s", "--thread", "Bob", "-o", "good.mixwalk"});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_thread)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("there is no sample to write, so \"good.mixwalk\" stays as it was"));
  EXPECT_EQ(bytes_of("good.mixwalk"), "good");
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk
