// Dumps, as fast as they go, of a program that does everything that makes a walk hard. The program
// checks itself, and must end as if nobody had looked.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "walker/export/words.h"
#include "walker/model/counters.h"

namespace mixwalk {
namespace {

// 60 s in an ordinary run; MIXWALK_TORTURE_SECONDS for more.
int seconds() { return wanted("MIXWALK_TORTURE_SECONDS", 60, 5); }

// FunctionIDs of the managed frames, leaf first.
using Functions = std::vector<std::uint64_t>;

Functions functions_of(const Stack& stack) {
  Functions functions;
  for (const Frame& frame : stack.frames) {
    if (frame.kind == FrameKind::managed) functions.push_back(frame.function);
  }
  return functions;
}

struct Tally {
  CountersBuilder counters;
  BreakerState breaker;
  std::size_t dumps = 0;
  std::size_t compared = 0;  // samples walked by both engines
  std::size_t different = 0;
  std::map<std::string, std::size_t> differences;  // by kind
  std::vector<std::string> examples;
};

// How two walks of one sample differ, in a few words.
std::string kind_of_difference(const Stack& snapshot, const Stack& copy) {
  if (!snapshot.whole()) return "the runtime's walk is not whole";
  if (!copy.whole()) return "the copy's walk is not whole";
  const Functions a = functions_of(snapshot), b = functions_of(copy);
  const auto within = [](const Functions& part, const Functions& whole) {
    std::size_t next = 0;
    for (const std::uint64_t function : whole) {
      if (next < part.size() && part[next] == function) ++next;
    }
    return next == part.size();
  };
  if (within(a, b)) return "the copy's walk has more frames";
  if (within(b, a)) return "the runtime's walk has more frames";
  return "other frames";
}

void count(const Snapshot& snapshot, Tally& tally) {
  ++tally.dumps;
  tally.breaker = snapshot.breaker;
  const Thread* before = nullptr;
  for (const Thread& thread : snapshot.threads) {
    const bool second = before != nullptr && before->os_id == thread.os_id;
    if (!second) {
      tally.counters.add(thread);
      before = &thread;
      continue;
    }
    ++tally.compared;
    if (functions_of(before->stack) == functions_of(thread.stack)) continue;
    ++tally.different;
    ++tally.differences[kind_of_difference(before->stack, thread.stack)];
    if (tally.examples.size() < 3) {
      tally.examples.push_back(to_text(snapshot, *before) + to_text(snapshot, thread));
    }
  }
}

void print(const Tally& tally, const Counters& counters, const std::string& result) {
  std::printf("%zu dumps, %llu samples, %llu whole, %llu threads ending; %llu runs closed, %llu at "
              "the root, %llu open\n",
              tally.dumps, counters.samples, counters.whole, counters.skipped, counters.runs_closed,
              counters.runs_root, counters.runs_open);
  std::printf("frozen us p50 %llu p99 %llu max %llu; %llu freezes ended by the supervisor; %llu "
              "probes, %llu failed; %llu walked from the copy instead; breaker %u threads%s\n",
              counters.frozen_p50_ns / 1000, counters.frozen_p99_ns / 1000,
              counters.frozen_max_ns / 1000, counters.interventions, counters.probes_run,
              counters.probes_failed, counters.fallbacks, counters.breaker.threads_off,
              counters.breaker.process_off ? ", process off" : "");
  for (const auto& [hresult, times] : counters.refusals) {
    std::printf("  refused %#x %llu times\n", hresult, times);
  }
  for (std::size_t i = 0; i < kOpenReasons; ++i) {
    if (counters.open_by_reason[i] == 0) continue;
    std::printf("  open: %s %llu times\n",
                std::string(key(static_cast<OpenReason>(i))).c_str(), counters.open_by_reason[i]);
  }
  std::printf("%zu samples walked by both engines, %zu different\n", tally.compared,
              tally.different);
  for (const auto& [kind, times] : tally.differences) {
    std::printf("  different: %s %zu times\n", kind.c_str(), times);
  }
  for (const std::string& example : tally.examples) std::printf("%s\n", example.c_str());
  std::printf("%s\n", result.c_str());
}

TEST(Torture, TheProgramNeverNotices) {
  ChildProcess torture({fixture("torture.exe"), "--seconds", std::to_string(seconds() + 5)});
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  Tally tally;
  const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(seconds()) * 1000;
  {
    DumpSession session = attach_to(torture.id());
    while (GetTickCount64() < end) {
      auto snapshot = session.dump({.both_engines = true});
      ASSERT_TRUE(snapshot) << snapshot.failure().message;
      count(*snapshot, tally);
    }
    EXPECT_EQ(session.leave(), "");
  }
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);

  const Counters counters = tally.counters.finish(tally.breaker);
  print(tally, counters, result);
  const auto of = [](std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  ASSERT_GT(counters.samples, 100u);
  EXPECT_GE(of(counters.whole, counters.samples), 0.999);
  // One run in 10,000; in a short test two at most: Wine's look-up may miss what is there
  // (rtl_unwind_step.cpp).
  const std::uint64_t ended = counters.runs_closed + counters.runs_root;
  EXPECT_LE(counters.runs_open, std::max<std::uint64_t>(2, ended / 10'000));
  ASSERT_GT(tally.compared, 100u);
  EXPECT_LE(of(tally.different, tally.compared), 0.001);
}

}  // namespace
}  // namespace mixwalk
