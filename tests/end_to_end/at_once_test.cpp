// mixwalk dump --at-once: all threads of a process at one moment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/walker/outside/win/look_outside.h"

namespace mixwalk {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const DumpRequest kAtOnce = {
    .engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true};

class AtOnce : public testing::Test {
 protected:
  void start(std::vector<std::string> options) {
    options.insert(options.begin(), fixture("hang.exe"));
    hang_.emplace(options);
    ASSERT_TRUE(hang_->read_line().value_or("").starts_with("READY"));
  }
  void expect_unharmed() {
    EXPECT_TRUE(hang_->running());
    hang_->write_line("STOP");
    EXPECT_EQ(hang_->wait(20'000), 0u);
  }
  std::optional<ChildProcess> hang_;
};

// Function and place of each frame, leaf first.
using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Places places(const Stack& stack) {
  Places all;
  for (const Frame& frame : stack.frames) all.emplace_back(frame.address, frame.function);
  return all;
}

TEST_F(AtOnce, TheStacksAreThoseOfADump) {
  start({});
  TargetSession session = attach_to(hang_->id());
  const Snapshot turn = dump_named(session, {.engine = Engine::snapshot});
  const Snapshot once = dump_named(session, kAtOnce);
  // There may be a second moment, if a thread of the runtime has just started.
  ASSERT_GE(once.moments.size(), 1u);
  EXPECT_GT(once.moments[0].frozen_ns, 0u);
  EXPECT_TRUE(turn.moments.empty());
  int compared = 0;
  for (const char* name : {"deadlock 1", "deadlock 2", "sleep", "accept", "native wait", "com call",
                           "task result", "deep"}) {
    const Thread& before = thread_named(turn, name);
    const Thread& thread = thread_named(once, name);
    EXPECT_EQ(thread.moment, 1u);
    EXPECT_EQ(before.moment, 0u);
    EXPECT_TRUE(thread.stack.whole()) << to_text(once, thread);
    EXPECT_EQ(places(thread.stack), places(before.stack))
        << to_text(turn, before) << to_text(once, thread);
    ++compared;
  }
  EXPECT_EQ(compared, 8);
  EXPECT_EQ(session.leave(), "");
  expect_unharmed();
}

// For the threads of `--many 200`.
void expect_two_hundred_of_one_moment(const Snapshot& snapshot) {
  const auto idle = threads_that_begin(snapshot, "idle ");
  EXPECT_EQ(idle.size(), 200u);
  for (const Thread* thread : idle) {
    EXPECT_EQ(thread->moment, 1u);
    EXPECT_TRUE(all_runs_closed(thread->stack)) << to_text(snapshot, *thread);
  }
  std::printf("%zu threads stood for %.1f ms\n", snapshot.threads.size(),
              static_cast<double>(snapshot.moments.at(0).frozen_ns) / 1e6);
}

TEST_F(AtOnce, TwoHundredThreadsOfOneMoment) {
  start({"--many", "200"});
  TargetSession session = attach_to(hang_->id());
  DumpRequest patient = kAtOnce;
  patient.deadline_ms = 5'000;  // so that a busy machine does not make the test fail
  const Snapshot snapshot = dump_named(session, patient);
  expect_two_hundred_of_one_moment(snapshot);
  EXPECT_EQ(session.leave(), "");
  expect_unharmed();
}

// The deadline passes immediately, so the missing threads are frozen one by one, and none is lost.
TEST_F(AtOnce, NoThreadIsLostWhereTheDeadlineIsTooShort) {
  start({"--many", "200"});
  TargetSession session = attach_to(hang_->id());
  DumpRequest short_of_time = kAtOnce;
  short_of_time.deadline_ms = 1;
  const Snapshot snapshot = dump_named(session, short_of_time);
  const auto idle = threads_that_begin(snapshot, "idle ");
  EXPECT_EQ(idle.size(), 200u);
  std::size_t alone = 0;
  for (const Thread* thread : idle) {
    alone += thread->moment == 0;
    EXPECT_LE(thread->moment, snapshot.moments.size());
    EXPECT_EQ(thread->skipped, "");
    EXPECT_TRUE(all_runs_closed(thread->stack)) << to_text(snapshot, *thread);
  }
  std::printf("%zu moments, %zu threads frozen alone\n", snapshot.moments.size(), alone);
  EXPECT_EQ(session.leave(), "");
  expect_unharmed();
}

TEST_F(AtOnce, OnlyTheThreadsThatWereAskedFor) {
  start({});
  TargetSession session = attach_to(hang_->id());
  const Snapshot all = dump_named(session, kAtOnce);
  DumpRequest two = kAtOnce;
  const std::uint32_t id = thread_named(all, "sleep").os_id;
  two.thread_ids = {id, thread_named(all, "accept").os_id, id, 99'999'996};
  const Snapshot snapshot = dump_named(session, two);
  ASSERT_EQ(snapshot.threads.size(), 3u) << "each once, and one that there is none of";
  EXPECT_EQ(snapshot.threads[2].skipped, "the thread has ended, or may not be opened");
  EXPECT_EQ(snapshot.threads[2].moment, 0u);
  EXPECT_EQ(session.leave(), "");
  expect_unharmed();
}

// Returns the number of the thread's step, 0 to 7, or nothing if the thread is between two steps.
std::optional<int> step_of(const Thread& thread) {
  for (const Frame& frame : thread.stack.frames) {
    const std::size_t at = frame.name.find("Hang.LockStep.Step");
    if (at != std::string::npos) return frame.name.at(at + 18) - '0';
  }
  return std::nullopt;
}

// The steps of both threads. A dump in which one of the threads was between two steps is left out.
using Steps = std::vector<std::pair<int, int>>;

Steps dump_lock_step(const std::function<Snapshot()>& dump, int dumps) {
  Steps steps;
  for (int i = 0; i < dumps; ++i) {
    const Snapshot snapshot = dump();
    const auto first = step_of(thread_named(snapshot, "lock step 1"));
    const auto second = step_of(thread_named(snapshot, "lock step 2"));
    if (first && second) steps.emplace_back(*first, *second);
  }
  return steps;
}

// Whether the program cannot have been at both steps at the same moment: if two threads run in lock-step, one is at
// most one step ahead.
bool two_moments(int first, int second) {
  const int between = (first - second + 8) % 8;
  return between > 1 && between < 7;
}

std::size_t torn(const Steps& steps) {
  return std::ranges::count_if(steps, [](const auto& pair) { return two_moments(pair.first, pair.second); });
}

// Pairs the first thread's step of each dump with the second thread's step of each other dump.
Steps across_dumps(const Steps& steps) {
  Steps across;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = 0; j < steps.size(); ++j) {
      if (i != j) across.emplace_back(steps[i].first, steps[j].second);
    }
  }
  return across;
}

// Thread-by-thread dumps are torn more or less often, depending on how close the two freezes lie. So an ordinary run
// expects no number: on one machine none of 40 was torn. MIXWALK_MOMENTS=1000 takes such dumps, and among these some
// are torn.
void expect_one_moment(const std::function<Snapshot()>& at_once, const std::function<Snapshot()>& in_turn,
                       int ordinary) {
  const int dumps = wanted("MIXWALK_MOMENTS", ordinary, 10);
  const Steps once = dump_lock_step(at_once, dumps);
  const Steps across = across_dumps(once);
  std::printf("at once: %zu pairs, %zu torn; of two dumps: %zu pairs, %zu torn\n", once.size(), torn(once),
              across.size(), torn(across));
  EXPECT_GT(once.size(), std::size_t(dumps / 10));
  EXPECT_EQ(torn(once), 0u);
  // This shows that the comparison recognises steps of two different moments.
  EXPECT_GT(torn(across), 0u);
  if (dumps < 1000) return;
  const Steps turn = dump_lock_step(in_turn, dumps);
  std::printf("in turn: %zu pairs, %zu torn\n", turn.size(), torn(turn));
  EXPECT_GT(torn(turn), 0u);
}

TEST_F(AtOnce, ThreadsInLockStepAreNeverTwoStepsApart) {
  start({"--lock-step"});
  TargetSession session = attach_to(hang_->id());
  expect_one_moment([&] { return dump_named(session, kAtOnce); },
                    [&] { return dump_named(session, {.engine = Engine::copy}); }, 40);
  EXPECT_EQ(session.leave(), "");
  expect_unharmed();
}

TEST_F(AtOnce, ThreadsInLockStepAreNeverTwoStepsApartFromOutside) {
  start({"--lock-step"});
  OutsideSession session(hang_->id(), mixwalk_exe());
  expect_one_moment([&] { return session.dump(kAtOnceDeadlineMs); }, [&] { return session.dump(); }, 12);
  expect_unharmed();
}

TEST_F(AtOnce, TwoHundredThreadsOfOneMomentFromOutside) {
  start({"--many", "200"});
  OutsideSession session(hang_->id(), mixwalk_exe());
  const Snapshot snapshot = session.dump(5'000);
  expect_two_hundred_of_one_moment(snapshot);
  expect_unharmed();
}

TEST_F(AtOnce, NoThreadIsLostFromOutsideWhereTheDeadlineIsTooShort) {
  start({"--many", "200"});
  OutsideSession session(hang_->id(), mixwalk_exe());
  const Snapshot snapshot = session.dump(1);
  const auto idle = threads_that_begin(snapshot, "idle ");
  EXPECT_EQ(idle.size(), 200u);
  std::size_t alone = 0;
  for (const Thread* thread : idle) {
    alone += thread->moment == 0;
    EXPECT_EQ(thread->skipped, "");
    EXPECT_TRUE(all_runs_closed(thread->stack)) << to_text(snapshot, *thread);
  }
  std::printf("%zu moments, %zu threads frozen alone\n", snapshot.moments.size(), alone);
  EXPECT_GT(alone, 0u);
  expect_unharmed();
}

TEST_F(AtOnce, TheOutputSaysForHowLongTheProcessStood) {
  start({});
  const ProgramResult text =
      run_program({mixwalk_exe(), "dump", "--at-once", "-p", std::to_string(hang_->id())});
  EXPECT_EQ(text.exit_code, 0u) << text.err;
  EXPECT_THAT(text.out, HasSubstr(" threads, which stood still for "));
  const ProgramResult json = run_program(
      {mixwalk_exe(), "dump", "--at-once", "-f", "json", "-p", std::to_string(hang_->id())});
  const Json dump = Json::parse(json.out);
  ASSERT_GE(dump.at("moments").size(), 1u);
  EXPECT_GT(dump.at("moments")[0].at("stood_ns"), 0);
  for (const auto& thread : dump.at("threads")) {
    if (!thread.at("skipped").is_null()) continue;
    EXPECT_GE(thread.at("moment"), 1) << thread.dump(1);
  }
  expect_unharmed();
}

}  // namespace
}  // namespace mixwalk
