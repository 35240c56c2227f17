// Ctrl-C and Ctrl-Break in the middle of a recording: sent to mixwalk.exe, to the program, or to both.

#include <gtest/gtest.h>

#include "tests/end_to_end/recorded_file.h"
#include "tests/hunt/hunt.h"
#include "tests/support/win/wine.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

constexpr DWORD kEndMs = 30'000;

// Gives this program a console of its own, also for the programs that it starts from now on. The console is kept.
bool has_own_console() {
  static const bool has = [] {
    const HANDLE err = GetStdHandle(STD_ERROR_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    FreeConsole();
    const bool allocated = AllocConsole();
    SetStdHandle(STD_ERROR_HANDLE, err);
    SetStdHandle(STD_OUTPUT_HANDLE, out);
    return allocated;
  }();
  return has;
}

// A program that is a process group of its own does not receive Ctrl-C; all other programs of the console do.
enum class Hears { yes, no };
DWORD flags(Hears hears) { return hears == Hears::yes ? 0 : CREATE_NEW_PROCESS_GROUP; }

// Sends Ctrl-C to the console's programs but not to this one. Programs that are started later do not receive it either.
bool press_ctrl_c() {
  SetConsoleCtrlHandler(nullptr, TRUE);
  return GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
}

// Runs hunt.exe, and checks how it ends.
class Program {
 public:
  Program(const std::string& situation, Hears hears)
      : process({fixture("hunt.exe"), situation}, flags(hears)) {
    EXPECT_TRUE(process.read_line().value_or("(closed)").starts_with("READY"));
  }
  std::string id() const { return std::to_string(process.id()); }
  // Tells the program to stop. Returns the first word of its last line, and its exit code.
  std::string stop() {
    process.write_line("STOP");
    const std::string line = process.read_line().value_or("(closed)");
    const DWORD code = process.wait(kEndMs).value_or(STILL_ACTIVE);
    return line.substr(0, line.find(' ')) + " " + std::to_string(code);
  }

  ChildProcess process;
};

class ControlC : public testing::Test {
 protected:
  ControlC() : file_(temporary_file("control-c.mixwalk")) { remove_file(file_); }
  ~ControlC() override { remove_file(file_); }

  void SetUp() override {
    if (!has_own_console()) GTEST_SKIP() << "no console can be had here";
    SetConsoleCtrlHandler(nullptr, FALSE);
  }

  std::vector<std::string> record(const std::vector<std::string>& target) const {
    std::vector<std::string> line = {mixwalk_exe(), "record", "-i", "2ms", "--budget", "0", "-o", file_};
    line.insert(line.end(), target.begin(), target.end());
    return line;
  }
  // Waits until there are samples in the file.
  bool records() const {
    const ULONGLONG end = GetTickCount64() + kEndMs;
    while (bytes_of(file_).size() < 2000 && GetTickCount64() < end) Sleep(50);
    return bytes_of(file_).size() >= 2000;
  }
  // Expects that the file can be read to its footer, so that nothing is missing.
  void expect_whole_file() const { EXPECT_GT(read_whole(file_).samples.size(), 20u); }
  // Expects that a visit succeeds immediately, because a recorder that ends has already left the target.
  static void expect_next_visit(const Program& target) {
    const std::string dump = temporary_file("control-c.json");
    const ProgramResult result = run_program({mixwalk_exe(), "dump", "--inside", "-p", target.id(), "-o", dump});
    EXPECT_EQ(result.exit_code, 0u) << result.err;
    remove_file(dump);
  }

  const std::string file_;
};

TEST_F(ControlC, EndsTheRecordingAndTheTargetIsThereForTheNextVisit) {
  Program target("tasks", Hears::no);
  ChildProcess recorder(record({"-p", target.id()}), flags(Hears::yes));
  ASSERT_TRUE(records());
  ASSERT_TRUE(press_ctrl_c()) << GetLastError();
  EXPECT_EQ(recorder.wait(kEndMs), 0u);
  expect_whole_file();
  expect_next_visit(target);
  EXPECT_EQ(target.stop(), "OK 0");
}

// Ctrl-C comes between two dumps, or in the middle of one.
TEST_F(ControlC, EndsASeriesOfDumpsAndKeepsThoseThatAreThere) {
  Program target("tasks", Hears::no);
  const std::string log = temporary_file("control-c.log");
  ChildProcess dumper({mixwalk_exe(), "dump", "--inside", "-p", target.id(), "--repeat", "1000", "--every", "100ms",
                       "-v", "-o", file_}, StartOptions{.flags = flags(Hears::yes), .err_file = log});
  // Before the end of the first dump, Ctrl-C ends mixwalk.exe as usual.
  ASSERT_TRUE(has_text(log, "dump 2 of 1000", kEndMs)) << bytes_of(log);
  ASSERT_TRUE(press_ctrl_c()) << GetLastError();
  EXPECT_EQ(dumper.wait(kEndMs), 0u);
  const std::size_t dumps = dumps_of(read_whole(file_));
  EXPECT_GT(dumps, 1u);
  EXPECT_LT(dumps, 1000u);
  expect_next_visit(target);
  EXPECT_EQ(target.stop(), "OK 0");
  remove_file(log);
}

// Ctrl-Break is sent to one process group.
//
// Folklore: Wine 8 sends no Ctrl-Break (error 6). Wine 10 ends a thread of the program instead of calling the program's
// handlers: its server sends SIGQUIT, and SIGQUIT ends a thread there. Real case: mixwalk.exe lost its main thread and
// recorded on. So did a program that does nothing but set a handler and wait.
TEST_F(ControlC, AsCtrlBreakDoesTheSame) {
  if (under_wine()) GTEST_SKIP() << "not run: Wine calls no handler for Ctrl-Break";
  Program target("tasks", Hears::no);
  ChildProcess recorder(record({"-p", target.id()}), CREATE_NEW_PROCESS_GROUP);
  ASSERT_TRUE(records());
  ASSERT_TRUE(GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, recorder.id())) << GetLastError();
  EXPECT_EQ(recorder.wait(kEndMs), 0u);
  expect_whole_file();
  expect_next_visit(target);
  EXPECT_EQ(target.stop(), "OK 0");
}

// The target handles the event (Console.CancelKeyPress), once, and continues under the recording.
TEST_F(ControlC, OfATargetThatHandlesItIsHandled) {
  Program target("cancelled", Hears::yes), control("cancelled", Hears::yes);
  ChildProcess recorder(record({"-p", target.id()}), flags(Hears::no));
  ASSERT_TRUE(records());
  ASSERT_TRUE(press_ctrl_c()) << GetLastError();
  Program* const programs[] = {&control, &target};
  for (Program* program : programs) {
    EXPECT_EQ(program->process.read_line(), "CANCELLED");
    EXPECT_EQ(program->stop(), "OK 0");
  }
  EXPECT_EQ(recorder.wait(kEndMs), 0u);
  expect_whole_file();
}

TEST_F(ControlC, OfATargetThatDoesNotHandleItEndsItAsEver) {
  Program target("tasks", Hears::yes), control("tasks", Hears::yes);
  ChildProcess recorder(record({"-p", target.id()}), flags(Hears::no));
  ASSERT_TRUE(records());
  ASSERT_TRUE(press_ctrl_c()) << GetLastError();
  const auto usual = control.process.wait(kEndMs);
  ASSERT_TRUE(usual) << "then this shows nothing";
  EXPECT_EQ(target.process.wait(kEndMs), usual);
  EXPECT_EQ(recorder.wait(kEndMs), 0u);
  expect_whole_file();
  std::printf("both ended with %#lx\n", *usual);
}

// The user of `mixwalk record -- PROGRAM` presses Ctrl-C, and both programs receive it.
TEST_F(ControlC, OfBothLeavesAWholeFile) {
  ChildProcess recorder(record({"--", fixture("hunt.exe"), "tasks"}), flags(Hears::yes));
  ASSERT_TRUE(records());
  ASSERT_TRUE(press_ctrl_c()) << GetLastError();
  EXPECT_EQ(recorder.wait(kEndMs), 0u);
  expect_whole_file();
}

}  // namespace
}  // namespace mixwalk
