// Threads that wait for each other by more than monitors: by tasks, contexts, semaphores, locks of readers, other
// threads, the thread pool. A program hangs in several ways at once, so that few programs are started, and mixwalk must
// name the cause, the threads and the methods of each of them; what is healthy in it must not be named.
// MIXWALK_TASK_MATRIX=1 tries each way by itself, on .NET 8, 9 and 10, in Debug and Release builds; desktop.exe in each
// way of looking, on .NET 10.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/end_to_end/hang_looks.h"
#include "tests/end_to_end/hanging_program.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

// Not among them: crossed-mutexes, whose owners only the wait chains of Windows know (Wine has none).
const std::string kLocks =
    "monitor-and-semaphore+full-collection+slow-consumer+crossed-reader-writer-locks+reader-and-monitor+"
    "write-while-reading+crossed-joins+process-output+crossed-semaphores";
const std::string kTasks =
    "result-in-context+result-in-asked-context+monitor-and-context+forgotten-source+when-all+value-source+full-channel+"
    "timer+timer-with-event+pool-waits";
// A program of their own, because the text shows no more than eight findings.
const std::string kWaits =
    "callback-and-lock+wait-without-limit+deep-continuations+crossed-lazies+exclusive-scheduler+entered-twice";
// Its proof needs the IL of methods, which mixwalk reads on .NET 9 and later.
const std::string kAsyncSemaphores = "crossed-async-semaphores";
const std::string kAllTasks = kTasks + "+" + kAsyncSemaphores;

bool has_matrix() { return wanted("MIXWALK_TASK_MATRIX", 0, 0) != 0; }

// The exit code of a program that only hangs in this way.
ExitCode code_of(const std::string& way) {
  static const std::set<std::string> kStuck = {"full-collection", "process-output"};
  static const std::set<std::string> kNotKnown = {"forgotten-source", "when-all",     "value-source",
                                                  "full-channel",     "pool-waits",   "timer-with-event",
                                                  "slow-consumer"};
  if (kNotKnown.contains(way)) return ExitCode::ok;
  return kStuck.contains(way) ? ExitCode::stuck : ExitCode::deadlock;
}

TEST(Hangs, LocksOfAllKindsThatAreTakenCrosswise) { expect_hang({.way = kLocks}); }

TEST(Hangs, WaitsOfAllKindsThatTheirFramesDoNotShow) { expect_hang({.way = kWaits}); }

TEST(Hangs, TasksThatDoNotEnd) { expect_hang({.way = kAllTasks}); }

// In a Debug build, the state machine of an async method is a class.
TEST(Hangs, TasksOfADebugBuildThatDoNotEnd) {
  expect_hang({.way = kAllTasks, .program = "hangs_debug.exe", .looks = {Look::outside}});
}

TEST(Hangs, TasksOfNet8ThatDoNotEnd) {
  expect_hang({.way = kTasks, .program = "..\\fixtures-net8.0\\hangs_debug.exe", .looks = {Look::outside}});
}

TEST(Hangs, TasksOfNet9ThatDoNotEnd) {
  expect_hang({.way = kAllTasks, .program = "..\\fixtures-net9.0\\hangs.exe", .looks = {Look::outside}});
}

// Their threads have no other order than that of their names.
TEST(Hangs, ThreadsOfWindowsFormsAndOfWpfThatWaitForTheirOwnContinuations) {
  prepare_desktop();
  HangCase desktop{.way = "desktop", .program = "desktop.exe"};
  if (!has_matrix()) desktop.looks = {Look::outside};
  expect_hang(desktop);
}

TEST(Hangs, AStarvedThreadPoolWithAQueue) {
  expect_hang({.way = "starved-pool-with-queue",
               .listed_tasks = "200 chains\n       A  await Hangs.Program.SendMail() → in a queue, and not begun"});
}

std::vector<std::string> ways() {
  std::vector<std::string> ways = {"starved-pool-with-queue"};
  for (const std::string& joined : {kLocks, kWaits, kAllTasks}) {
    std::istringstream in(joined);
    for (std::string way; std::getline(in, way, '+');) ways.push_back(way);
  }
  return ways;
}

struct Build {
  const char* name;
  const char* program;

  bool is_net8() const { return std::string_view(name).starts_with("net8"); }
};

// On a run without the variable, no case is made.
std::vector<Build> builds() {
  if (!has_matrix()) return {};
  return {{"net10", "hangs.exe"},
          {"net10_debug", "hangs_debug.exe"},
          {"net9", "..\\fixtures-net9.0\\hangs.exe"},
          {"net9_debug", "..\\fixtures-net9.0\\hangs_debug.exe"},
          {"net8", "..\\fixtures-net8.0\\hangs.exe"},
          {"net8_debug", "..\\fixtures-net8.0\\hangs_debug.exe"}};
}

std::vector<std::tuple<std::string, Build>> cases() {
  std::vector<std::tuple<std::string, Build>> cases;
  for (const std::string& way : ways()) {
    for (const Build& build : builds()) {
      const bool needs_il = way == kAsyncSemaphores || way == "crossed-semaphores" || way == "entered-twice";
      if (!build.is_net8() || !needs_il) cases.emplace_back(way, build);
    }
  }
  return cases;
}

// Each way by itself, on each runtime, in both builds.
class EachWay : public testing::TestWithParam<std::tuple<std::string, Build>> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachWay);

TEST_P(EachWay, OfEachRuntime) {
  const auto& [way, build] = GetParam();
  HangCase hang = {.way = way, .program = build.program, .code = code_of(way)};
  // On .NET 8 it is not known who has entered the semaphore.
  if (build.is_net8() && way == "monitor-and-semaphore") {
    hang.code = ExitCode::stuck;
    hang.golden = way + "-net8";
  }
  expect_hang(hang);
}

INSTANTIATE_TEST_SUITE_P(, EachWay, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace mixwalk
