// mixwalk.exe ended from outside, at any moment: the target goes on, nothing stays suspended, and
// the next visitor is let in.

#include <gtest/gtest.h>

#include <random>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

// Long enough for a whole visit: start, attach, dump of many threads, detach.
constexpr int kLongestMs = 900;
constexpr int kTimes = 12;

TEST(Killed, TheTargetGoesOnAndLetsTheNextOneIn) {
  ChildProcess hang({fixture("hang.exe"), "--many", "100"});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const std::string id = std::to_string(hang.id());
  std::mt19937 random(4711);
  int ended_before = 0;
  for (int i = 0; i < kTimes; ++i) {
    ChildProcess visitor({mixwalk_exe(), "dump", "-p", id, "-o", temporary_file("killed.txt")});
    Sleep(random() % kLongestMs);
    ended_before += !visitor.running();
    visitor.terminate();
    ASSERT_TRUE(hang.running()) << "after visitor " << i;
  }
  EXPECT_LT(ended_before, kTimes / 2) << "then most were not killed at all";

  // The last one's DLL may still be leaving. That it does, and in which time, is what is tested.
  ProgramResult result;
  const ULONGLONG end = GetTickCount64() + 10'000;
  do {
    result = run_program({mixwalk_exe(), "dump", "-p", id});
  } while (result.exit_code == 5 && GetTickCount64() < end);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find("\"idle 99\"  managed  whole"), std::string::npos);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u) << "a thread that stays suspended would hold it up";
}

}  // namespace
}  // namespace mixwalk
