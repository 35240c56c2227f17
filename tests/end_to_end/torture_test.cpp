// Dumps, as fast as they go, of a program that does everything that makes a walk hard. The program
// checks itself, and must end as if nobody had looked.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/export/words.h"

namespace mixwalk {
namespace {

// 20 s in an ordinary run; MIXWALK_TORTURE_SECONDS for more.
int seconds() {
  const char* text = std::getenv("MIXWALK_TORTURE_SECONDS");
  return text != nullptr ? std::max(5, std::atoi(text)) : 20;
}

struct Tally {
  std::size_t dumps = 0, stacks = 0, whole = 0, skipped = 0, refused = 0, runs = 0, open = 0;
  std::map<std::string, std::size_t> reasons;
  std::vector<std::uint64_t> frozen_ns;
};

void count(const Snapshot& snapshot, Tally& tally) {
  ++tally.dumps;
  for (const Thread& thread : snapshot.threads) {
    if (!thread.skipped.empty()) {
      ++tally.skipped;
      continue;
    }
    ++tally.stacks;
    tally.whole += thread.stack.whole();
    tally.refused += thread.stack.refusal != 0;
    tally.frozen_ns.push_back(thread.frozen_ns);
    for (const Run& run : thread.stack.runs) {
      ++tally.runs;
      if (run.end != RunEnd::open) continue;
      ++tally.open;
      ++tally.reasons[std::string(key(run.position)) + " " + std::string(key(run.why))];
    }
  }
}

TEST(Torture, TheProgramNeverNotices) {
  ChildProcess torture({fixture("torture.exe"), "--seconds", std::to_string(seconds() + 5)});
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  Tally tally;
  const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(seconds()) * 1000;
  {
    DumpSession session = attach_to(torture.id());
    for (Engine engine = Engine::snapshot; GetTickCount64() < end;
         engine = engine == Engine::snapshot ? Engine::copy : Engine::snapshot) {
      auto snapshot = session.dump({.engine = engine});
      ASSERT_TRUE(snapshot) << snapshot.failure().message;
      count(*snapshot, tally);
    }
    EXPECT_EQ(session.leave(), "");
  }
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);

  std::sort(tally.frozen_ns.begin(), tally.frozen_ns.end());
  const auto percentile = [&](double p) {
    return tally.frozen_ns[static_cast<std::size_t>(p * (tally.frozen_ns.size() - 1))] / 1000;
  };
  std::printf("%zu dumps, %zu stacks, %zu whole, %zu threads ending, %zu refused; %zu runs, %zu "
              "open; frozen us p50 %llu p99 %llu max %llu\n%s\n",
              tally.dumps, tally.stacks, tally.whole, tally.skipped, tally.refused, tally.runs,
              tally.open, percentile(0.5), percentile(0.99), percentile(1), result.c_str());
  for (const auto& [reason, times] : tally.reasons) {
    std::printf("  open: %s %zu times\n", reason.c_str(), times);
  }
  ASSERT_GT(tally.stacks, 100u);
  EXPECT_GE(static_cast<double>(tally.whole), 0.999 * static_cast<double>(tally.stacks));
}

}  // namespace
}  // namespace mixwalk
