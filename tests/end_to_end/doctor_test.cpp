// Tests mixwalk doctor on a program that can be walked, and on processes that cannot.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/recorded_file.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/remote_jump.h"
#include "tests/support/win/scoped_environment.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// Returns, for each check, the last line that was found.
std::map<std::string, Json> lines_of(const Json& report) {
  std::map<std::string, Json> lines;
  for (const Json& line : report.at("lines")) lines[line.at("check")] = line;
  return lines;
}

class Doctor : public ::testing::Test {
 protected:
  Doctor() : hang_({fixture("hang.exe")}) { EXPECT_TRUE(hang_.read_line().value_or("").starts_with("READY")); }
  ~Doctor() override {
    hang_.write_line("STOP");
    EXPECT_EQ(hang_.wait(20'000), 0u);
  }
  ChildProcess hang_;
};

TEST_F(Doctor, OfAProgramThatCanBeLookedAt) {
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-p", std::to_string(hang_.id()), "--json"});
  ASSERT_EQ(result.exit_code, 0u) << result.out << result.err;
  const Json report = Json::parse(result.out);
  auto lines = lines_of(report);
  for (const char* check : {"mixwalk", "rights", "process", "diagnostics port", "runtime", "other profilers",
                            "debugging library", "trial"}) {
    ASSERT_TRUE(lines.contains(check)) << check;
    EXPECT_EQ(lines[check].at("state"), "good") << lines[check];
  }
  EXPECT_TRUE(lines.contains("PDBs"));
  EXPECT_EQ(lines["symbol path"].at("state"), "note");
  EXPECT_NE(lines["runtime"].at("found").get<std::string>().find(".NET 10."), std::string::npos);
  EXPECT_NE(lines["debugging library"].at("found").get<std::string>().find("mscordaccore.dll"), std::string::npos);
  const Json& trial = report.at("trial");
  EXPECT_GE(trial.at("dumps"), 1);
  EXPECT_GE(trial.at("whole"), trial.at("dumps"));
  EXPECT_GT(trial.at("frozen_ns").at("max"), 0);
}

// mixwalk.exe runs alone in a folder, and beside a file mixwalk.dll that is not a DLL. The exit code is that of a dump
// from inside.
TEST(DoctorOfItself, WithoutAGoodLibraryBesideIt) {
  const std::filesystem::path folder = utf8_path(temporary_file("alone"));
  const std::string exe = utf8_text(folder / "mixwalk.exe");
  ASSERT_TRUE(remove_tree(folder)) << "it is there from an earlier run";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(utf8_path(mixwalk_exe()), utf8_path(exe));
  const ProgramResult alone = run_program({exe, "doctor"});
  EXPECT_EQ(alone.exit_code, static_cast<DWORD>(ExitCode::refused)) << alone.out;
  EXPECT_NE(alone.out.find("mixwalk.dll is not beside it"), std::string::npos) << alone.out;
  const ProgramResult dump = run_program({exe, "dump", "--inside", "-p", std::to_string(GetCurrentProcessId())});
  EXPECT_EQ(dump.exit_code, alone.exit_code) << dump.err;
  std::ofstream(folder / "mixwalk.dll") << "MZ";
  const ProgramResult broken = run_program({exe, "doctor"});
  EXPECT_EQ(broken.exit_code, static_cast<DWORD>(ExitCode::refused)) << broken.out;
  EXPECT_NE(broken.out.find("that cannot be read"), std::string::npos) << broken.out;
  EXPECT_TRUE(remove_tree(folder));
}

// mixwalk.exe runs alone in a folder.
TEST_F(Doctor, ADumpWithoutTheLibraryLooksFromOutside) {
  const std::filesystem::path folder = utf8_path(temporary_file("only the exe"));
  const std::string exe = utf8_text(folder / "mixwalk.exe");
  ASSERT_TRUE(remove_tree(folder)) << "it is there from an earlier run";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(utf8_path(mixwalk_exe()), utf8_path(exe));
  const ProgramResult result = run_program({exe, "dump", "-f", "json", "-p", std::to_string(hang_.id())});
  EXPECT_TRUE(remove_tree(folder));
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  const Json dump = Json::parse(result.out);
  EXPECT_EQ(dump.at("way"), "outside");
  EXPECT_NE(dump.at("way_reason").get<std::string>().find("mixwalk.dll is not beside mixwalk.exe"), std::string::npos);
}

TEST_F(Doctor, WithoutATrialOnlyReads) {
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-n", "hang", "--no-trial", "--symbol-path",
                                            "C:\\windows;C:\\no such folder;srv*http://localhost:1;"
                                            "\\\\mixwalk.invalid\\share"});
  EXPECT_EQ(result.exit_code, 0u) << result.out;
  EXPECT_EQ(result.out.find("  trial "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("good  process "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("C:\\no such folder is not a folder"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("note  symbol server      http://localhost:1: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\\\\mixwalk.invalid\\share is not a folder"), std::string::npos) << result.out;
}

TEST_F(Doctor, WhereAnotherVisitorIsInTheProcess) {
  const std::string file = temporary_file("doctor.mixwalk");
  remove_file(file);
  // Without -d, it records until it is ended. Its file is empty until the first bytes come from inside the process.
  ChildProcess other({mixwalk_exe(), "record", "-p", std::to_string(hang_.id()), "--wait", "30s", "-o", file});
  while (other.running() && bytes_of(file).empty()) Sleep(10);
  ASSERT_TRUE(other.running());
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-p", std::to_string(hang_.id()), "--json"});
  EXPECT_TRUE(other.running());
  other.terminate();
  remove_file(file);
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::already_profiled)) << result.out;
  auto lines = lines_of(Json::parse(result.out));
  EXPECT_EQ(lines["other profilers"].at("state"), "note");
  EXPECT_EQ(lines["trial"].at("state"), "bad");
}

// mixwalk.dll is never loaded into such a process, and nothing can record it.
TEST(DoctorOfNativeProgram, WithPatchedSystemCalls) {
  ChildProcess waits({"C:\\windows\\system32\\cmd.exe", "/q", "/k", "prompt $S"});
  waits.write_line("echo ready");
  while (waits.read_line().value_or("ready") != "ready") {
  }
  const auto* const stub = reinterpret_cast<const void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtSetTimer"));
  ASSERT_TRUE(write_jump(waits.handle(), stub, GetModuleHandleW(L"kernel32.dll")));
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-p", std::to_string(waits.id()), "--json"});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::not_dotnet)) << result.out;
  const Json line = lines_of(Json::parse(result.out)).at("system calls");
  EXPECT_EQ(line.at("state"), "note");
  EXPECT_NE(line.at("found").get<std::string>().find("NtSetTimer"), std::string::npos) << line;
  EXPECT_EQ(line.at("advice"), "dump --outside needs none of these calls");
}

TEST(DoctorOfNothing, SaysWhatWorksHere) {
  const ProgramResult here = run_program({mixwalk_exe(), "doctor"});
  EXPECT_EQ(here.exit_code, 0u) << here.out;
  EXPECT_TRUE(here.out.starts_with("good  mixwalk ")) << here.out;
}

TEST(DoctorOfNothing, SwitchesThatProgramsWouldInherit) {
  for (const auto& [value, is_off] : {std::pair{"0", true}, {"00", true}, {"0x0", true}, {"1", false}, {"no", false}}) {
    SCOPED_TRACE(value);
    const ScopedEnvironment off(Environment{{"DOTNET_EnableDiagnostics", value}});
    const ProgramResult here = run_program({mixwalk_exe(), "doctor"});
    EXPECT_EQ(here.out.find("note  environment ") != std::string::npos, is_off) << here.out;
  }
}

TEST(DoctorOfNothing, AProcessThatIsNotThere) {
  const ProgramResult result = run_program({mixwalk_exe(), "doctor", "-n", "no-such-program"});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::no_process));
  EXPECT_NE(result.out.find("bad   process"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace mixwalk
