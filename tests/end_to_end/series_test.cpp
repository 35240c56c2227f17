// Runs mixwalk dump --repeat on a live program, from inside and from outside, up to the result of mixwalk compare.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/child_process.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

constexpr DWORD kSeriesMs = 180'000;
constexpr DWORD kExitCodeOfDeadlock = 21;
constexpr DWORD kExitCodeOfEndedTarget = 8;

class SeriesOf : public testing::TestWithParam<const char*> {
 protected:
  SeriesOf() : file_(temporary_file("series.mixwalk")) { remove_file(file_); }
  ~SeriesOf() override { remove_file(file_); }

  std::vector<std::string> line(const ChildProcess& target, const std::vector<std::string>& more) const {
    std::vector<std::string> line = {mixwalk_exe(), "dump", GetParam(), "-p", std::to_string(target.id()), "-o", file_};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  const std::string file_;
};

TEST_P(SeriesOf, ADeadlockIsSeenInEachOfItsDumps) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const ULONGLONG begun = GetTickCount64();
  const ProgramResult dumped = run_program(line(hang, {"--repeat", "3", "--every", "2s", "--symbols", "offline"}), kSeriesMs);
  ASSERT_EQ(dumped.exit_code, 0u) << dumped.err;
  // The time from the beginning of the first dump to that of the third is measured. The moments of the dumps may be
  // closer together, because on a busy machine it takes more than two seconds until the threads of the first dump are
  // suspended.
  EXPECT_GE(GetTickCount64() - begun, 4'000u);
  EXPECT_TRUE(dumped.err.starts_with("mixwalk: wrote \"")) << dumped.err;

  const std::vector<Snapshot> dumps = to_series(read_whole(file_));
  ASSERT_EQ(dumps.size(), 3u);
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(dumps[i].locks_missing, "");
    EXPECT_GE(std::ranges::count(dumps[i].locks, "System.Object", &Lock::type), 2);
    // A thread of the system or of the runtime (the compiler's worker) may have ended before its time is read. The
    // program's own threads live, and have names.
    std::size_t named = 0;
    for (const Thread& thread : dumps[i].threads) {
      if (may_end(thread.name)) continue;
      ++named;
      EXPECT_TRUE(thread.cpu) << thread.name;
    }
    EXPECT_GE(named, 8u);
    if (i == 0) continue;
    EXPECT_GT(dumps[i].unix_time_ms, dumps[i - 1].unix_time_ms);
  }

  const ProgramResult compared = run_program({mixwalk_exe(), "compare", file_, "-f", "json"}, kSeriesMs);
  EXPECT_EQ(compared.exit_code, kExitCodeOfDeadlock) << compared.err;
  const Json findings = Json::parse(compared.out);
  EXPECT_EQ(findings.at("dumps").size(), 3u);
  ASSERT_FALSE(findings.at("findings").empty());
  EXPECT_EQ(findings.at("findings").at(0).at("kind"), "deadlock");

  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST_P(SeriesOf, ATargetThatEndsBetweenDumpsLeavesThoseBefore) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const std::string log = temporary_file("series.log");
  const ChildProcess dumper(line(hang, {"--repeat", "3", "--every", "10m", "-v"}), StartOptions{.err_file = log});
  EXPECT_TRUE(has_text(log, "dump 1 of 3", kSeriesMs)) << bytes_of(log);
  hang.write_line("STOP");
  EXPECT_EQ(dumper.wait(kSeriesMs), kExitCodeOfEndedTarget);
  const std::string said = bytes_of(log);
  EXPECT_THAT(said, HasSubstr("(hang.exe) ended with code "));
  EXPECT_THAT(said, EndsWith("; 1 of 3 dumps is written\n"));
  remove_file(log);
  EXPECT_EQ(to_series(read_whole(file_)).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, SeriesOf, testing::Values("--inside", "--outside"),
                         [](const auto& info) { return std::string(info.param + 2); });

}  // namespace
}  // namespace mixwalk
