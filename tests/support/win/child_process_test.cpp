#include "tests/support/win/child_process.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace mixwalk {
namespace {

// The disabled cases are the programs under test.
TEST(ChildProcess, DISABLED_Sleeps) { Sleep(60'000); }

TEST(ChildProcess, DISABLED_StartsASleeperAndIsKilled) {
  const ChildProcess sleeper(disabled_case("ChildProcess.DISABLED_Sleeps"));
  std::printf("\nSLEEPER %lu\n", sleeper.id());
  std::fflush(stdout);
  Sleep(60'000);
}

TEST(ChildProcess, IsInAJob) {
  const ChildProcess sleeper(disabled_case("ChildProcess.DISABLED_Sleeps"));
  BOOL in_job = FALSE;
  ASSERT_TRUE(IsProcessInJob(sleeper.handle(), nullptr, &in_job));
  EXPECT_TRUE(in_job);
}

TEST(ChildProcess, AKilledTestProgramLeavesNoChild) {
  ChildProcess killed(disabled_case("ChildProcess.DISABLED_StartsASleeperAndIsKilled"));
  std::optional<std::string> line;
  do {
    line = killed.read_line();
    ASSERT_TRUE(line) << "it names no sleeper";
  } while (!line->starts_with("SLEEPER "));
  const UniqueHandle sleeper(OpenProcess(SYNCHRONIZE, FALSE, std::stoul(line->substr(8))));
  ASSERT_TRUE(sleeper);
  killed.terminate();
  EXPECT_EQ(WaitForSingleObject(sleeper.get(), 20'000), WAIT_OBJECT_0);
}

}  // namespace
}  // namespace mixwalk
