// Each program hangs in one way, by locks. mixwalk must name the cause, the threads and their places first.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/hang_looks.h"
#include "tests/end_to_end/hanging_program.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr DWORD kLookMs = 120'000;

TEST(Hangs, MonitorsThatAreTakenCrosswise) { expect_hang("crossed-monitors", ExitCode::deadlock); }
TEST(Hangs, AMonitorOfAThreadInNativeCode) { expect_hang("monitor-in-native-code", ExitCode::stuck); }
TEST(Hangs, ACriticalSectionAndAMonitorThatAreTakenCrosswise) { expect_hang("crossed-section", ExitCode::deadlock); }
// The SynchronizationContext waits for the threads, and the rules must find for what.
TEST(Hangs, AContextThatWaitsItself) { expect_hang("context", ExitCode::stuck); }
TEST(Hangs, ANativeCallbackThatDoesNotReturn) { expect_hang("callback", ExitCode::stuck); }
TEST(Hangs, AReaderWriterLockOfAThreadInNativeCode) { expect_hang("reader-writer-lock", ExitCode::stuck); }
TEST(Hangs, AnInterpreterAndAMonitorThatAreTakenCrosswise) { expect_hang("interpreter", ExitCode::stuck); }
TEST(Hangs, ASpinLockThatIsNotReleased) { expect_hang("spin-lock", ExitCode::stuck); }
TEST(Hangs, AStaticConstructorThatWaits) { expect_hang("class-constructor", ExitCode::deadlock); }

// Without the runtime's debugging library, the callers of managed code are guessed, so nothing can be said about a
// thread below a guess. (Before, the threads had "moved", and "nothing is stuck" was wrong.)
TEST(Hangs, ADumpWithoutManagedFramesProvesNoMove) {
  HangingProgram program("callback");
  const std::string unasked = temporary_file("unasked.mixwalk"), asked = temporary_file("asked.mixwalk");
  const auto dump = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {mixwalk_exe(), "dump", "--outside", "-p", program.id(), "-o"});
    const ProgramResult result = run_program(options, kLookMs);
    EXPECT_EQ(result.exit_code, 0u) << result.err;
    return result;
  };
  const ProgramResult dumped = dump({unasked, "--dac", "none.dll"});
  EXPECT_THAT(dumped.err, HasSubstr("managed frames are missing: "));
  EXPECT_THAT(dump({asked, "--symbols", "offline"}).err, StartsWith("mixwalk: wrote \""));
  program.process.write_line("STOP");
  EXPECT_EQ(program.process.wait(kLookMs), 0u);

  const ProgramResult compared = run_program({mixwalk_exe(), "compare", unasked, asked}, kLookMs);
  EXPECT_EQ(compared.exit_code, 0u) << compared.err;
  EXPECT_THAT(compared.out, StartsWith("nothing is known to be stuck"));
  EXPECT_THAT(compared.out, HasSubstr("1 thread waits for what thread "));
  EXPECT_THAT(compared.out, HasSubstr("note: Dump 1 has no managed frames, or not all: "));
  // The runtime's own threads may have moved.
  const ProgramResult json = run_program({mixwalk_exe(), "compare", unasked, asked, "-f", "json"}, kLookMs);
  const auto findings = nlohmann::json::parse(json.out);
  std::size_t own = 0;
  for (const auto& thread : findings.at("threads")) {
    if (!program.names.contains(thread.at("os_id").get<std::uint64_t>())) continue;
    ++own;
    EXPECT_NE(thread.at("verdict"), "moved") << thread;
  }
  EXPECT_EQ(own, program.names.size());
  remove_file(unasked);
  remove_file(asked);
}

}  // namespace
}  // namespace mixwalk
