// Tests what mixwalk cannot do: it prints one line on standard error and ends with the documented exit code, and the
// target is unharmed.

#include <gtest/gtest.h>
#include <windows.h>

#include <aclapi.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"
#include "tests/support/win/wine.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

// Expects one clear line, and the exit code.
void expect_refusal(const ProgramResult& result, ExitCode code, const std::string& says) {
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(code)) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.starts_with("mixwalk: ")) << result.err;
  EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

// Makes a dump from inside; a look from outside as a replacement is the subject of from_outside_test.
ProgramResult dump(std::vector<std::string> options) {
  options.insert(options.begin(), {mixwalk_exe(), "dump", "--inside"});
  return run_program(options);
}

// A native program that does nothing until it is ended. Windows has no better one.
std::vector<std::string> native_program() { return {"C:\\windows\\system32\\cmd.exe"}; }

std::string ready_hang(ChildProcess& hang) {
  EXPECT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  return std::to_string(hang.id());
}

void expect_unharmed(ChildProcess& hang) {
  EXPECT_TRUE(hang.running());
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST(Refusal, NoSuchProcess) {
  expect_refusal(dump({"-p", "99999996"}), ExitCode::no_process,
                 "no process with id 99999996: mixwalk ps lists the .NET processes");
  expect_refusal(dump({"-n", "no-such-program"}), ExitCode::no_process, "no-such-program");
}

TEST(Refusal, NotADotnetProcess) {
  ChildProcess native(native_program());
  Sleep(300);
  expect_refusal(dump({"-p", std::to_string(native.id())}), ExitCode::not_dotnet,
                 "is not a .NET process");
  EXPECT_TRUE(native.running());
}

TEST(Refusal, A32BitProcess) {
  MIXWALK_NEEDS_32_BIT_CODE();
  ChildProcess sleeper({fixture("sleeper32.exe")});
  ASSERT_EQ(sleeper.read_line(), "READY") << "a 32-bit program could not be run at all";
  expect_refusal(dump({"-p", std::to_string(sleeper.id())}), ExitCode::wrong_bitness,
                 "is a 32-bit process");
  EXPECT_TRUE(sleeper.running());
}

TEST(Refusal, SeveralProcessesOfThatName) {
  ChildProcess first({fixture("hang.exe")}), second({fixture("hang.exe")});
  ready_hang(first);
  ready_hang(second);
  expect_refusal(dump({"-n", "hang"}), ExitCode::ambiguous, "--process-id");
  expect_unharmed(first);
  expect_unharmed(second);
}

TEST(Refusal, AnotherProfilerIsAttached) {
  ChildProcess hang({fixture("hang.exe")});
  const std::string id = ready_hang(hang);
  TargetSession other = attach_to(hang.id());
  expect_refusal(dump({"-p", id}), ExitCode::already_profiled, "another mixwalk");
  // The visitor that was there first must still be at work.
  EXPECT_TRUE(other.dump({}));
  EXPECT_EQ(other.leave(), "");
  expect_unharmed(hang);
}

TEST(Refusal, NoAccess) {
  ChildProcess hang({fixture("hang.exe")});
  const std::string id = ready_hang(hang);
  // The list of rights is empty, so no user may do anything. The child keeps the handles that it has.
  ACL nobody;
  InitializeAcl(&nobody, sizeof nobody, ACL_REVISION);
  ASSERT_EQ(SetSecurityInfo(hang.handle(), SE_KERNEL_OBJECT,
                            DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                            nullptr, nullptr, &nobody, nullptr),
            static_cast<DWORD>(ERROR_SUCCESS));
  expect_refusal(dump({"-p", id}), ExitCode::no_access, "no access");
  expect_unharmed(hang);
}

TEST(Refusal, TheRuntimeHasNotStarted) {
  // At its very start the runtime waits until a debugger resumes it; its diagnostics port is already open.
  ChildProcess hang({fixture("hang.exe")},
                    StartOptions{.environment = {{"DOTNET_DefaultDiagnosticPortSuspend", "1"}}});
  // While it starts, the process first has no runtime, then only the runtime's host, then a runtime without a port.
  // Each of these states has its own sentence. Only the runtime itself, asked through its port, causes the last one.
  const std::string said_by_runtime = "is still starting; try again in a moment";
  ProgramResult result;
  for (const ULONGLONG end = GetTickCount64() + 30'000; GetTickCount64() < end; Sleep(100)) {
    result = dump({"-p", std::to_string(hang.id())});
    if (result.err.find(said_by_runtime) != std::string::npos) break;
    EXPECT_TRUE(result.exit_code == static_cast<DWORD>(ExitCode::not_dotnet) ||
                result.exit_code == static_cast<DWORD>(ExitCode::not_started))
        << result.exit_code << ": " << result.err;
  }
  expect_refusal(result, ExitCode::not_started, said_by_runtime);
  EXPECT_TRUE(hang.running());
}

TEST(Refusal, DiagnosticsAreSwitchedOff) {
  ChildProcess hang({fixture("hang.exe")}, StartOptions{.environment = {{"DOTNET_EnableDiagnostics", "0"}}});
  const std::string id = ready_hang(hang);
  expect_refusal(dump({"-p", id}), ExitCode::not_started,
                 "DOTNET_EnableDiagnostics=0, or runs in a container: then run mixwalk in that container");
  expect_unharmed(hang);
}

// The next three cases test what each switch of the runtime prevents. The switch that is named after profilers does not
// keep them out of a running program, because the runtime reads it only when it starts.
TEST(Refusal, AStartedProgramAllowsNoProfiler) {
  const ScopedEnvironment off(Environment{{"DOTNET_EnableDiagnostics_Profiler", "0"}});
  const ProgramResult result = dump({"--after", "1s", "--timeout", "2s", "--", fixture("hang.exe"),
                                     "--exit-after-ms", "6000"});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::not_dotnet)) << result.err;
  EXPECT_NE(result.err.find("DOTNET_EnableDiagnostics_Profiler=0"), std::string::npos) << result.err;
}

TEST(Refusal, ThePortIsClosed) {
  ChildProcess hang({fixture("hang.exe")}, StartOptions{.environment = {{"DOTNET_EnableDiagnostics_IPC", "0"}}});
  const std::string id = ready_hang(hang);
  expect_refusal(dump({"-p", id}), ExitCode::not_started, "DOTNET_EnableDiagnostics");
  expect_unharmed(hang);
}

TEST(NoRefusal, AProgramThatRunsAndAllowsNoProfiler) {
  ChildProcess hang({fixture("hang.exe")}, StartOptions{.environment = {{"DOTNET_EnableDiagnostics_Profiler", "0"}}});
  const std::string id = ready_hang(hang);
  const ProgramResult result = dump({"-p", id});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  expect_unharmed(hang);
}

TEST(Refusal, TheTargetEndsDuringTheDump) {
  ChildProcess hang({fixture("hang.exe")});
  ready_hang(hang);
  TargetSession session = attach_to(hang.id());
  hang.terminate();
  auto snapshot = session.dump({});
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.failure().code, ExitCode::target_exited);
  EXPECT_NE(snapshot.failure().message.find(" ended with code "), std::string::npos)
      << snapshot.failure().message;
  EXPECT_TRUE(snapshot.failure().message.ends_with(" while mixwalk looked at it"))
      << snapshot.failure().message;
}

TEST(Refusal, AStartedProgramEndsTooSoon) {
  expect_refusal(dump({"--after", "30s", "--", "C:\\windows\\system32\\cmd.exe", "/c", "exit 3"}),
                 ExitCode::target_exited, "ended with code 3 before the time of --after");
}

TEST(Refusal, AStartedProgramHasNoRuntime) {
  expect_refusal(dump({"--after", "0s", "--timeout", "1s", "--", "C:\\windows\\system32\\cmd.exe",
                       "/c", "ping -n 5 127.0.0.1 >nul"}),
                 ExitCode::not_dotnet, "did not load a .NET runtime");
}

TEST(Refusal, AProgramThatCannotBeStarted) {
  expect_refusal(dump({"--", "Z:\\no\\such\\program.exe"}), ExitCode::not_launched, "cannot start");
}

TEST(Refusal, AFileThatIsNoProgram) {
  const std::string file = temporary_file("no program.exe");
  std::ofstream(utf8_path(file)) << "MZ";
  expect_refusal(dump({"--", file}), ExitCode::not_launched, "as a valid image: is it complete");
  std::filesystem::remove(utf8_path(file));
}

// The runtime itself reports what its call of LoadLibrary said.
TEST(Refusal, ALibraryThatWindowsRefuses) {
  ChildProcess hang({fixture("hang.exe")});
  ready_hang(hang);
  auto target = find_target(hang.id());
  ASSERT_TRUE(target);
  const auto session = TargetSession::attach(std::move(*target), to_utf16(beside("refused_library.dll")), 30'000);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.failure().code, ExitCode::refused);
  EXPECT_NE(session.failure().message.find("cannot load mixwalk.dll (0x8007045A): the file could not be initialised"),
            std::string::npos)
      << session.failure().message;
  expect_unharmed(hang);
}

TEST(Refusal, UnwritableOutput) {
  ChildProcess hang({fixture("hang.exe")});
  const std::string id = ready_hang(hang);
  expect_refusal(dump({"-p", id, "-o", "Z:\\no\\such\\folder\\dump.txt"}), ExitCode::output,
                 "cannot write");
  expect_refusal(dump({"-p", id, "-o", "C:\\windows"}), ExitCode::output, "cannot write");
  expect_unharmed(hang);
}

// The temporary name of the output would be a file, or the same device, and neither can be renamed to a device's name.
TEST(Refusal, TheNullDeviceIsWritable) {
  ChildProcess hang({fixture("hang.exe")});
  const std::string id = ready_hang(hang);
  for (const char* name : {"NUL", "\\\\.\\nul"}) {
    const ProgramResult result = dump({"-p", id, "-o", name});
    EXPECT_EQ(result.exit_code, 0u) << name << ": " << result.err;
  }
  expect_unharmed(hang);
}

TEST(Refusal, DiskFull) {
  SECURITY_ATTRIBUTES inherit{sizeof inherit, nullptr, TRUE};
  MIXWALK_ONLY_UNDER_WINE("the full disk is a file of Linux");
  const UniqueHandle full(CreateFileW(L"\\\\?\\unix\\dev\\full", GENERIC_WRITE, 0, &inherit,
                                      OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(full);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"completions", "bash"}, {"dump", "--help"}}) {
    std::vector<std::string> command = {mixwalk_exe()};
    command.insert(command.end(), words.begin(), words.end());
    expect_refusal(run_program_into(command, full.get()), ExitCode::output, "cannot write to standard output");
  }
  ChildProcess hang({fixture("hang.exe")});
  const std::string id = ready_hang(hang);
  expect_refusal(run_program_into({mixwalk_exe(), "dump", "--inside", "-p", id, "--symbols", "offline"}, full.get()),
                 ExitCode::output, "cannot write to standard output");
  expect_unharmed(hang);
}

TEST(Refusal, UnknownOption) {
  expect_refusal(dump({"--no-such-option"}), ExitCode::usage, "mixwalk dump --help");
  expect_refusal(run_program({mixwalk_exe(), "no-such-command"}), ExitCode::usage, "mixwalk --help");
}

}  // namespace
}  // namespace mixwalk
