#include "walker/session/visit_failure.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

const VisitState kAttached{.process = "process 7 (a.exe)"};
const VisitState kStarted{.process = "process 7 (a.exe)", .started = true};

VisitState greeted(VisitState state) {
  state.greeted = true;
  return state;
}

VisitState ended(VisitState state, std::uint32_t exit_code) {
  state.exit_code = exit_code;
  return state;
}

TEST(VisitFailure, AProcessThatEndedSaysItsCode) {
  EXPECT_EQ(with_exit_code(0), " with code 0");
  EXPECT_EQ(with_exit_code(3), " with code 3");
  EXPECT_EQ(with_exit_code(0xC0000005), " with code 0xc0000005");
  EXPECT_EQ(with_exit_code(std::nullopt), "");
}

TEST(VisitFailure, AProcessThatEndedBeforeTheFirstWord) {
  EXPECT_EQ(process_ended(ended(kAttached, 3)).message,
            "process 7 (a.exe) ended with code 3 before mixwalk.dll sent a message");
  EXPECT_EQ(process_ended(ended(kStarted, 3)).message,
            "process 7 (a.exe) ended with code 3 before mixwalk.dll sent a message: it is not a "
            ".NET program, or it ended at once");
  EXPECT_EQ(process_ended(kStarted).code, ExitCode::target_exited);
}

// Windows ends a program with these codes if it refuses one of the files that the program needs.
TEST(VisitFailure, AStartedProcessWhoseFilesWindowsRefuses) {
  const std::pair<std::uint32_t, const char*> cases[] = {
      {0xC0E90002, "application control"},  // STATUS_SYSTEM_INTEGRITY_POLICY_VIOLATION
      {0xC0000428, "signature"},            // STATUS_INVALID_IMAGE_HASH
      {0xC0000142, "initialised"},          // STATUS_DLL_INIT_FAILED
  };
  for (const auto& [code, says] : cases) {
    const Failure failure = process_ended(ended(kStarted, code));
    EXPECT_EQ(failure.code, ExitCode::target_exited);
    EXPECT_NE(failure.message.find(": Windows refused one of its files: "), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find(says), std::string::npos) << failure.message;
    EXPECT_EQ(process_ended(ended(greeted(kStarted), code)).message.find("refused"), std::string::npos);
  }
  // An HRESULT is a code of the program's own.
  for (const std::uint32_t code : {0x80070241u, 0xC0000005u, 577u, 0u}) EXPECT_EQ(refusal_at_start(code), "") << code;
  EXPECT_EQ(refusal_at_start(std::nullopt), "");
}

TEST(VisitFailure, AProcessThatEndedLater) {
  EXPECT_EQ(process_ended(ended(greeted(kStarted), 0xC0000005)).message,
            "process 7 (a.exe) ended with code 0xc0000005 while mixwalk looked at it");
  EXPECT_EQ(process_ended(greeted(kAttached)).code, ExitCode::target_exited);
}

TEST(VisitFailure, Silence) {
  EXPECT_EQ(process_silent(kAttached).message,
            "mixwalk got no message from mixwalk.dll in process 7 (a.exe) in time");
  EXPECT_EQ(process_silent(kAttached).code, ExitCode::timeout);
  EXPECT_EQ(process_silent(kStarted).code, ExitCode::not_dotnet);
  EXPECT_EQ(process_silent(greeted(kStarted)).message,
            "process 7 (a.exe) did not answer in time");
  EXPECT_EQ(process_silent(greeted(kStarted)).code, ExitCode::timeout);
}

TEST(VisitFailure, MixwalkDllLeft) {
  EXPECT_EQ(profiler_gone(kAttached).message,
            "mixwalk.dll left process 7 (a.exe) before it sent its first message");
  EXPECT_EQ(profiler_gone(greeted(kAttached)).message,
            "mixwalk.dll left process 7 (a.exe) during the visit");
  EXPECT_EQ(profiler_gone(kAttached).code, ExitCode::refused);
}

}  // namespace
}  // namespace mixwalk
