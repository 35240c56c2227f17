// Tests what a user sees of mixwalk.exe: the names of files, the ids of threads, programs that end at once, outputs
// that cannot be written, another visitor.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/end_to_end/hang_suite.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"
#include "tests/support/win/wine_dispatcher.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

constexpr auto kTargetExited = static_cast<DWORD>(ExitCode::target_exited);
constexpr auto kOutput = static_cast<DWORD>(ExitCode::output);
constexpr auto kTimeout = static_cast<DWORD>(ExitCode::timeout);
constexpr auto kNoThread = static_cast<DWORD>(ExitCode::no_thread);
constexpr auto kAlreadyProfiled = static_cast<DWORD>(ExitCode::already_profiled);

bool says(const ProgramResult& result, const std::string& what) {
  return result.err.find(what) != std::string::npos;
}

bool is_there(const std::string& path) {
  return GetFileAttributesW(to_utf16(path).c_str()) != INVALID_FILE_ATTRIBUTES;
}

class CommandLine : public HangSuite {
 protected:
  CommandLine() : file_(temporary_file("command_line.mixwalk")) { remove_file(file_); }
  ~CommandLine() override { remove_file(file_); }

  // The visitor before this one may not have left yet. The look at locks takes as long as the rest of a dump.
  ProgramResult run(const std::string& command, std::vector<std::string> options) const {
    if (command == "dump") options.push_back("--no-locks");
    options.insert(options.begin(),
                   {mixwalk_exe(), command, "-p", std::to_string(hang_->id()), "--wait", "20s"});
    return run_program(options);
  }
  // The sleeper's stack is always the same, and the sleeper never uses the CPU.
  std::uint32_t id_of_sleeper() const {
    TargetSession session = attach_to(hang_->id());
    const std::uint32_t id = thread_named(dump_named(session, {}), "sleep").os_id;
    EXPECT_EQ(session.leave(), "");
    return id;
  }

  std::string file_;
};

TEST_F(CommandLine, AThreadByItsIdInEitherForm) {
  const std::uint32_t id = id_of_sleeper();
  char hexadecimal[16];
  std::snprintf(hexadecimal, sizeof hexadecimal, "0x%x", id);
  for (const std::string& text : {std::string(hexadecimal), std::to_string(id)}) {
    const ProgramResult dumped = run("dump", {"-f", "json", "--threads", text});
    ASSERT_EQ(dumped.exit_code, 0u) << dumped.err;
    const Json threads = Json::parse(dumped.out).at("threads");
    ASSERT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads.at(0).at("name"), "sleep");
    const ProgramResult recorded = run("record", {"-d", "1s", "-o", file_, "--thread", text});
    ASSERT_EQ(recorded.exit_code, 0u) << recorded.err;
    const Recording recording = read_whole(file_);
    ASSERT_EQ(recording.threads.size(), 1u);
    EXPECT_EQ(recording.threads[0].name, "sleep");
  }
}

TEST_F(CommandLine, ADumpOfThreadsByTheirName) {
  const ProgramResult result = run("dump", {"-f", "json", "--thread", "deadlock"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  std::vector<std::string> names;
  const Json dump = Json::parse(result.out);
  for (const auto& thread : dump.at("threads")) names.push_back(thread.at("name"));
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"deadlock 1", "deadlock 2"}));
  EXPECT_EQ(dump.at("filter").at("some_threads"), true);
  EXPECT_EQ(Json::parse(run("dump", {"-f", "json"}).out).at("filter").at("some_threads"), false);
}

TEST_F(CommandLine, AThreadThatIsNotThereIsAnError) {
  // No thread has the id 0xfffffff0. It is a multiple of four, as ids of threads are, but no thread's id is that large.
  for (const std::string command : {"dump", "record"}) {
    const ProgramResult result = run(command, {"--thread", "0xfffffff0", "-o", file_});
    EXPECT_EQ(result.exit_code, kNoThread) << result.err;
    EXPECT_TRUE(says(result, "has no thread 0xfffffff0")) << result.err;
    EXPECT_FALSE(is_there(file_)) << command;
  }
  const ProgramResult dumped = run("dump", {"--thread", "slepe"});
  EXPECT_EQ(dumped.exit_code, kNoThread) << dumped.err;
  EXPECT_TRUE(says(dumped, "has no thread whose name begins with \"slepe\"")) << dumped.err;
  const ProgramResult recorded =
      run("record", {"-d", "1s", "--thread", "slepe", "--thread", "slee", "-o", file_});
  EXPECT_EQ(recorded.exit_code, kNoThread) << recorded.err;
  EXPECT_TRUE(says(recorded, "no sample was taken of any thread whose name begins with \"slepe\""))
      << recorded.err;
  EXPECT_EQ(read_whole(file_).threads.size(), 1u) << "what the other option met is kept";
}

TEST_F(CommandLine, AThreadThatGaveNoSampleIsNotMissing) {
  const ProgramResult result =
      run("record", {"-d", "1s", "--mode", "cpu", "--thread", "sleep", "-o", file_});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_TRUE(says(result, "no sample was taken of any thread whose name begins with \"sleep\""))
      << result.err;
  EXPECT_TRUE(read_whole(file_).samples.empty());
}

TEST_F(CommandLine, ADashIsStandardOutput) {
  const ProgramResult result = run("dump", {"-f", "json", "-o", "-"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_FALSE(Json::parse(result.out).at("threads").empty());
}

// A pager is started whose input is not read to the end. The target must not have to wait for the pager.
TEST_F(CommandLine, TheTargetIsLetGoBeforeTheOutputIsRead) {
  ChildProcess dumper(
      {mixwalk_exe(), "dump", "--inside", "-p", std::to_string(hang_->id()), "--wait", "20s", "-f", "json"});
  ASSERT_TRUE(dumper.read_line()) << "the dump is there";
  const ProgramResult next = run("dump", {});
  EXPECT_EQ(next.exit_code, 0u) << next.err;
  EXPECT_TRUE(dumper.running()) << "its output is longer than a pipe";
  dumper.read_rest();
  EXPECT_EQ(dumper.wait(20'000), 0u);
}

TEST_F(CommandLine, AnotherVisitorIsWaitedFor) {
  TargetSession other = attach_to(hang_->id());
  const std::vector<std::string> dump = {mixwalk_exe(), "dump", "--inside", "-p", std::to_string(hang_->id())};
  const ProgramResult refused = run_program(dump);
  EXPECT_EQ(refused.exit_code, kAlreadyProfiled);
  EXPECT_TRUE(says(refused, "another mixwalk is still in process ")) << refused.err;
  EXPECT_TRUE(says(refused, ": --wait 30s waits until it has left")) << refused.err;
  ProgramResult waiting;
  std::thread patient([&] { waiting = run("dump", {}); });
  Sleep(1000);
  EXPECT_EQ(other.leave(), "");
  patient.join();
  EXPECT_EQ(waiting.exit_code, 0u) << waiting.err;
}

TEST_F(CommandLine, ARecordingIsNamedAfterProgramAndTime) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const fs::path folder = utf8_path(temporary_file("default_names"));
  EXPECT_TRUE(remove_tree(folder));
  fs::create_directory(folder);
  fs::current_path(folder);
  const ProgramResult result = run("record", {"-d", "1s"});
  fs::current_path(before);
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  ASSERT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  const fs::path file = fs::directory_iterator(folder)->path();
  EXPECT_TRUE(file.filename().string().starts_with("hang-20")) << file;
  EXPECT_EQ(file.filename().string().size(), std::string("hang-20261121-170721.mixwalk").size());
  EXPECT_TRUE(says(result, "mixwalk: wrote \"" + file.filename().string() + "\"\n")) << result.err;
  EXPECT_FALSE(read_whole(utf8_text(file)).samples.empty());
  EXPECT_TRUE(remove_tree(folder));
}

TEST_F(CommandLine, AFileThatIsThereStaysUntilThereIsAnotherRecording) {
  std::ofstream(utf8_path(file_), std::ios::binary) << "before";
  const ProgramResult failed = run_program({mixwalk_exe(), "record", "-p", "99999996", "-o", file_});
  EXPECT_EQ(failed.exit_code, static_cast<DWORD>(ExitCode::no_process)) << failed.err;
  EXPECT_EQ(bytes_of(file_), "before");
  const ProgramResult result = run("record", {"-d", "1s", "-o", file_});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_TRUE(says(result, "in place of the file that was there")) << result.err;
  EXPECT_FALSE(read_whole(file_).samples.empty());
}

TEST_F(CommandLine, AnOutputThatCannotBeIsSaidBeforeAnythingIsRecorded) {
  for (const std::string name : {"x.mixwalk", "x.folded"}) {
    const std::string path = temporary_file("no-such-folder\\" + name);
    const ULONGLONG begin = GetTickCount64();
    const ProgramResult result = run("record", {"-d", "5m", "-o", path});
    EXPECT_EQ(result.exit_code, kOutput) << result.err;
    EXPECT_TRUE(says(result, "cannot write")) << result.err;
    EXPECT_TRUE(says(result, name + "\": ")) << "and why: " << result.err;
    EXPECT_LT(GetTickCount64() - begin, 60'000u);
  }
}

TEST_F(CommandLine, TheRateThatWasReachedIsSaid) {
  const ProgramResult result = run("record", {"-d", "2s", "-r", "10000", "-o", file_});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_TRUE(says(result, " of 10000 a second of each (--budget), ")) << result.err;
  const Recording recording = read_whole(file_);
  const double all = static_cast<double>(recording.samples.size());
  const double threads = static_cast<double>(recording.threads.size());
  const double most = all / threads / (static_cast<double>(recording.duration_ns) / 1e9);
  const std::size_t at = result.err.find("threads, ");
  const double said = std::stod(result.err.substr(at + std::string("threads, ").size()));
  EXPECT_GT(said, most / 4) << result.err;
  EXPECT_LT(said, most * 4) << result.err;
  const ProgramResult unbound = run("record", {"-d", "2s", "-r", "10000", "--budget", "0", "-o", file_});
  EXPECT_TRUE(says(unbound, " of 10000 a second of each, ")) << unbound.err;
}

using NtSuspendProcess = LONG(NTAPI*)(HANDLE);

NtSuspendProcess of_all_threads(const char* name) {
  return reinterpret_cast<NtSuspendProcess>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll"), name)));
}

// Runs each case for every format of a file; the extension selects the format. The samples are a second apart, because
// mixwalk.exe waits 33 s longer if the process is suspended while a thread is frozen: only the process could resume it.
// The recorder does not leave such a process in order, so each case has a process of its own.
class HungTarget : public CommandLine, public ::testing::WithParamInterface<const char*> {
 protected:
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}
  void SetUp() override { CommandLine::SetUpTestSuite(); }
  void TearDown() override { CommandLine::TearDownTestSuite(); }
};

TEST_P(HungTarget, WhatWasRecordedIsWritten) {
  const std::string out = temporary_file(std::string("hung") + GetParam());
  const std::string log = temporary_file("hung.log");
  const ChildProcess recorder({mixwalk_exe(), "record", "-p", std::to_string(hang_->id()), "--wait", "20s", "-v", "-i",
                               "1s", "-d", "5s", "--timeout", "2s", "-o", out},
                              StartOptions{.err_file = log});
  EXPECT_TRUE(has_text(log, "the first samples", 60'000)) << bytes_of(log);
  ASSERT_EQ(of_all_threads("NtSuspendProcess")(hang_->handle()), 0);
  EXPECT_EQ(recorder.wait(60'000), kTimeout) << bytes_of(log);
  ASSERT_EQ(of_all_threads("NtResumeProcess")(hang_->handle()), 0);
  EXPECT_NE(bytes_of(log).find("did not end the recording in time"), std::string::npos)
      << bytes_of(log);
  EXPECT_NE(bytes_of(log).find("wrote \""), std::string::npos) << bytes_of(log);
  if (std::string(GetParam()) == ".mixwalk") {
    EXPECT_FALSE(read_whole(out).samples.empty());
  } else {
    EXPECT_NE(bytes_of(out).find("ladder_native_park"), std::string::npos);
  }
  remove_file(out);
  remove_file(log);
}

INSTANTIATE_TEST_SUITE_P(Formats, HungTarget, ::testing::Values(".mixwalk", ".folded"));

ProgramResult record_program(const std::string& file, std::vector<std::string> program) {
  program.insert(program.begin(), {mixwalk_exe(), "record", "-d", "40s", "-o", file, "--"});
  return run_program(program);
}

TEST(ShortProgram, LeavesAReadableRecordingAndALine) {
  const std::string file = temporary_file("short.mixwalk");
  // The program prints the option that it does not know, and ends.
  const ProgramResult result = record_program(file, {fixture("hang.exe"), "--no-such-option"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  const Recording recording = read_whole(file);
  EXPECT_NE(recording.process.id, 0u);
  EXPECT_EQ(recording.samples.empty(), says(result, "the recording is empty")) << result.err;
  EXPECT_TRUE(says(result, "hang.exe) ended with code ")) << result.err;
  remove_file(file);
}

TEST(ShortProgram, ThatEndsBeforeItsTimeIsSaid) {
  const std::string file = temporary_file("short.mixwalk");
  const ProgramResult result =
      record_program(file, {fixture("hang.exe"), "--exit-after-ms", "1500"});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_TRUE(says(result, "hang.exe) ended with code 0 after ")) << result.err;
  EXPECT_TRUE(says(result, " of 40 s\n")) << result.err;
  EXPECT_FALSE(read_whole(file).samples.empty());
  remove_file(file);
}

TEST(ShortProgram, ThatIsNoDotnetProgramIsSaidAndLeavesNoFile) {
  const std::string file = temporary_file("short.mixwalk");
  remove_file(file);
  const ProgramResult result =
      record_program(file, {"C:\\windows\\system32\\cmd.exe", "/c", "exit 3"});
  EXPECT_EQ(result.exit_code, kTargetExited) << result.err;
  EXPECT_TRUE(says(result, "(C:\\windows\\system32\\cmd.exe) ended with code 3 before mixwalk.dll "
                           "sent a message: it is not a .NET program"))
      << result.err;
  EXPECT_FALSE(is_there(file));
}

std::vector<std::string> started_program(std::vector<std::string> before) {
  before.insert(before.end(), {"--", fixture("hang.exe"), "--start-child", "--exit-after-ms", "500"});
  return before;
}

// A child that inherited the variables would load mixwalk.dll as well, without a mixwalk.exe to talk to.
TEST(StartedProgram, AndItsChildrenHaveNoVariableOfMixwalks) {
  const std::string file = temporary_file("child.mixwalk");
  const ProgramResult result =
      run_program(started_program({mixwalk_exe(), "record", "-o", file}), 90'000);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_FALSE(read_whole(file).samples.empty());
  EXPECT_NE(result.out.find("itself has said all"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("child has said all"), std::string::npos) << result.out;
  for (const char* name : {"CORECLR_", "COR_", "MIXWALK_"}) {
    EXPECT_EQ(result.out.find(name), std::string::npos) << result.out;
  }
  remove_file(file);
}

// The variables of another profiler, which the program would have without mixwalk, and which its children get. Until
// mixwalk.dll is loaded, these variables must have no effect, because one of them would take precedence over ours.
TEST(StartedProgram, AndItsChildrenKeepTheVariablesOfAnotherProfiler) {
  const ScopedEnvironment variables(Environment{{"CORECLR_ENABLE_PROFILING", "0"},
                                                {"CORECLR_PROFILER_PATH_64", "C:\\no\\such\\profiler.dll"},
                                                {"COR_PROFILER", "{00000000-0000-0000-0000-000000000001}"}});
  const std::string file = temporary_file("child.mixwalk");
  const ProgramResult result =
      run_program(started_program({mixwalk_exe(), "record", "-o", file}), 90'000);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_FALSE(read_whole(file).samples.empty());
  for (const std::string of : {"itself has ", "child has "}) {
    for (const char* variable :
         {"CORECLR_ENABLE_PROFILING=0", "CORECLR_PROFILER_PATH_64=C:\\no\\such\\profiler.dll",
          "COR_PROFILER={00000000-0000-0000-0000-000000000001}"}) {
      EXPECT_NE(result.out.find(of + variable), std::string::npos) << of << variable << '\n'
                                                                   << result.out;
    }
    EXPECT_EQ(result.out.find(of + "MIXWALK_"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find(of + "CORECLR_PROFILER="), std::string::npos) << result.out;
  }
  remove_file(file);
}

// For a program whose manifest does not allow long paths, Windows ends paths at 260 characters.
TEST(Manifest, AllowsLongPaths) {
  const HMODULE image = LoadLibraryExW(to_utf16(mixwalk_exe()).c_str(), nullptr, LOAD_LIBRARY_AS_DATAFILE);
  ASSERT_NE(image, nullptr);
  const HRSRC manifest = FindResourceW(image, MAKEINTRESOURCEW(1), MAKEINTRESOURCEW(24));
  ASSERT_NE(manifest, nullptr);
  const std::string text(static_cast<const char*>(LockResource(LoadResource(image, manifest))),
                         SizeofResource(image, manifest));
  EXPECT_NE(text.find("longPathAware"), std::string::npos) << text;
  EXPECT_NE(text.find(">true<"), std::string::npos) << text;
  FreeLibrary(image);
}

// Tests what fixtures/demo prints about its program.
TEST(Demo, NoLineIsABareNumber) {
  ChildProcess orders({fixture("orders-demo.exe")});
  ASSERT_TRUE(orders.read_line().value_or("").starts_with("READY"));
  const ProgramResult dumped = run_program({mixwalk_exe(), "dump", "--process-id", std::to_string(orders.id())});
  EXPECT_EQ(dumped.exit_code, 0u) << dumped.err;
  orders.write_line("");
  orders.close_input();
  orders.wait(10'000);

  // A line looks like "  #4   N  orders.dll!wait_for_reply+0xf  (orders.cpp:15)".
  //
  // Folklore: the thread "Inventory" never stands still, so it may be anywhere. Real case: in 5 of some 1,400 dumps
  // right after the start it was in a function of coreclr.dll, which has names only with the runtime's PDB, and a
  // single such frame is not folded. In one of some 1,500 a thread was in Wine's dispatcher of system calls. Remedy:
  // the runtime's images and the dispatcher are left out.
  const std::regex frame("  #[0-9]+ +[MNS]  (.*)");
  const std::regex of_runtime(R"((coreclr|clrjit)\.dll!.*)");
  const std::regex of_wine(R"(\[code at (0x[0-9a-f]+)\].*)");
  const std::regex number(R"((\[(code|managed code|stub) at )?([^ !]*!)?0x[0-9a-f]+.*)");
  std::istringstream lines(dumped.out);
  std::size_t frames = 0;
  bool runtime = false;  // whether the last frame was of the runtime
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!std::regex_match(line, parts, frame)) {
      runtime = false;  // another thread begins
      continue;
    }
    ++frames;
    const std::string label = parts[1];
    const bool follows_runtime = std::exchange(runtime, std::regex_match(label, of_runtime));
    EXPECT_FALSE(runtime && follows_runtime) << "two such frames are folded: " << line;
    if (runtime) continue;
    if (std::regex_match(label, parts, of_wine) && in_wine_dispatcher(std::stoull(parts[1], nullptr, 16))) continue;
    EXPECT_FALSE(std::regex_match(label, number)) << line;
  }
  EXPECT_GT(frames, 30u) << dumped.out;
  EXPECT_NE(dumped.out.find("orders.dll!wait_for_reply"), std::string::npos) << dumped.out;
}

}  // namespace
}  // namespace mixwalk
