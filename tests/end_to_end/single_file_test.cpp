// A program that was published as a single file: the runtime is in the program's own image, and there is no
// coreclr.dll.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/recorded_file.h"
#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/model/runtime_images.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

class SingleFile : public ::testing::Test {
 protected:
  SingleFile() : program_({fixture("single.exe")}) {
    EXPECT_TRUE(program_.read_line().value_or("(closed)").starts_with("READY "));
  }
  ~SingleFile() override {
    program_.write_line("STOP");
    EXPECT_EQ(program_.wait(30'000), 0u);
  }
  std::string id() const { return std::to_string(program_.id()); }

  ChildProcess program_;
};

TEST_F(SingleFile, IsListedAndDumpedWhole) {
  const ProgramResult ps = run_program({mixwalk_exe(), "ps"});
  EXPECT_THAT(ps.out, ::testing::ContainsRegex(id() + "  single.exe +.NET 10"));
  TargetSession session = attach_to(program_.id());
  const Snapshot snapshot = dump_named(session, {.probe = ProbePolicy::risk});
  const Thread& waiting = thread_named(snapshot, "waiting");
  EXPECT_TRUE(waiting.stack.whole()) << to_text(snapshot, waiting);
  EXPECT_THAT(to_text(snapshot, waiting), ::testing::HasSubstr("Single.Program.Wait("));
  // The thread waits in the runtime, and may hold a lock of the runtime, just as in a program with a coreclr.dll.
  EXPECT_NE(waiting.probe, ProbeResult::none) << to_text(snapshot, waiting);
  EXPECT_EQ(session.leave(), "");
}

TEST_F(SingleFile, AnExceptionBeginsAtTheFrameThatThrew) {
  const std::string file = temporary_file("single.mixwalk");
  ChildProcess recorder({mixwalk_exe(), "record", "-p", id(), "--on", "exception", "-d", "3s", "-o",
                         file});
  const ULONGLONG end = GetTickCount64() + 30'000;
  while (bytes_of(file).size() < 100 && GetTickCount64() < end) Sleep(50);
  program_.write_line("THROW");
  EXPECT_EQ(program_.read_line().value_or("(closed)"), "THROWN");
  EXPECT_EQ(recorder.wait(60'000), 0u);
  const Recording whole = read_whole(file);
  remove_file(file);
  ASSERT_EQ(whole.samples.size(), 1u);
  const Recording shown = filtered(whole, {});
  EXPECT_EQ(frame_names(shown, shown.samples[0]).front(), "Single.Program.Throw()");
  // Checks which images the viewers treat as the runtime.
  const std::vector<bool> is_runtime = runtime_images(whole);
  for (std::size_t i = 0; i < whole.modules.size(); ++i) {
    EXPECT_EQ(is_runtime[i], whole.modules[i].path.ends_with("single.exe"))
        << whole.modules[i].path;
  }
}

TEST(SingleFileRefusal, DiagnosticsAreSwitchedOff) {
  ChildProcess program({fixture("single.exe")}, StartOptions{.environment = {{"DOTNET_EnableDiagnostics", "0"}}});
  ASSERT_TRUE(program.read_line().value_or("(closed)").starts_with("READY "));
  const ProgramResult result =
      run_program({mixwalk_exe(), "dump", "--inside", "-p", std::to_string(program.id())});
  EXPECT_EQ(result.exit_code, static_cast<DWORD>(ExitCode::not_started));
  EXPECT_THAT(result.err, ::testing::HasSubstr("has the .NET runtime in its own file"));
  program.write_line("STOP");
  EXPECT_EQ(program.wait(30'000), 0u);
}

}  // namespace
}  // namespace mixwalk
