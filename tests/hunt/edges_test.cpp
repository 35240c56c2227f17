// Visits while the program starts and while it ends. The program must start and end with its own code, and mixwalk must
// report what it found.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/hunt/hunt.h"

namespace mixwalk {
namespace {

// The results that a visit may report for a program that is just starting or ending (docs/exit-codes.md).
const auto kHonest = ::testing::AnyOf(0u, 3u, 4u, 5u, 8u, 9u, 11u, 12u);

// The number of programs: 4 in an ordinary run, and 4 for each second that is requested.
int programs() { return std::max(4, static_cast<int>(hunt_time().count() / 250)); }

void print(const char* what, const std::map<DWORD, int>& codes) {
  std::printf("%s:", what);
  for (const auto& [code, times] : codes) std::printf(" exit code %lu %d times", code, times);
  std::printf("\n");
}

TEST(AtItsEdges, VisitedFromItsFirstMomentItComesUp) {
  std::map<DWORD, int> codes;
  for (int i = 0; i < programs(); ++i) {
    ChildProcess program({fixture("hunt.exe"), "tasks"});
    for (int visits = 0; visits < 3; ++visits) {
      const ProgramResult result =
          run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "--timeout", "10s",
                       "-o", temporary_file("edges.json")});
      ++codes[result.exit_code];
      EXPECT_THAT(result.exit_code, kHonest) << result.err;
    }
    EXPECT_TRUE(program.read_line().value_or("(closed)").starts_with("READY"));
    program.write_line("STOP");
    const std::string line = program.read_line().value_or("(closed)");
    EXPECT_TRUE(line.starts_with("OK ")) << line;
    EXPECT_EQ(program.wait(60'000), 0u);
  }
  print("while it starts", codes);
}

// The visits continue as long as the program exists.
TEST(AtItsEdges, VisitedToItsLastMomentItEndsWithItsCode) {
  std::map<DWORD, int> codes;
  for (int i = 0; i < programs(); ++i) {
    ChildProcess program({fixture("hunt.exe"), i % 2 == 0 ? "tasks" : "throw"});
    EXPECT_TRUE(program.read_line().value_or("(closed)").starts_with("READY"));
    ChildProcess recorder({mixwalk_exe(), "record", "-i", "1ms", "--budget", "0", "-p", std::to_string(program.id()),
                           "-o", temporary_file("edges.mixwalk")});
    // The wait begins when the program is being recorded, because then the file begins. How far the recording has come
    // by the program's end differs.
    Sleep(static_cast<DWORD>(500 + 97 * i % 500));
    program.write_line("STOP");
    const std::string line = program.read_line().value_or("(closed)");
    EXPECT_TRUE(line.starts_with("OK ")) << line;
    EXPECT_EQ(program.wait(60'000), 0u) << "program " << i;
    const auto code = recorder.wait(60'000);
    ASSERT_TRUE(code) << "mixwalk does not notice the end";
    ++codes[*code];
    EXPECT_THAT(*code, kHonest);
  }
  print("while it ends", codes);
}

}  // namespace
}  // namespace mixwalk
