// Makes dumps, as fast as possible, of a program that does everything that makes a walk hard. The program checks
// itself, and must end as if mixwalk had never attached.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "tests/end_to_end/session.h"
#include "tests/hunt/impossible_frames.h"
#include "tests/support/win/both_walks.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"
#include "tests/support/win/wine_dispatcher.h"
#include "tests/walker/outside/win/look_outside.h"
#include "walker/model/counters.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The seconds of each test; MIXWALK_TORTURE_SECONDS for more.
int seconds(int ordinary) { return wanted("MIXWALK_TORTURE_SECONDS", ordinary, 5); }

// MIXWALK_TORTURE_KINDS selects other kinds, or all.
std::string kinds() {
  const char* text = std::getenv("MIXWALK_TORTURE_KINDS");
  return text != nullptr ? text : "gc,jit,churn,load,throw,interop";
}

// How many samples a test must have at least. A busy machine needs two seconds for a dump, and there are at least eight
// threads.
std::uint64_t least_samples(int seconds) {
  return is_stalled() ? 0 : static_cast<std::uint64_t>(seconds) * 100 / 60;
}

// Folklore: under Wine, looks that GetTickCount64 timed lasted too long: one of 300 s until the program had ended by
// itself, and one of 100 s more than 150 s. With this clock 300 s last 300 s. (Why that clock is late was not found.)
using Clock = std::chrono::steady_clock;

// The program runs for some seconds while it is walked. It is told when to end, and ends by itself if the test does not
// reach that point.
constexpr int kAtMostSeconds = 60;

std::vector<std::string> torture(const std::string& kinds, int program_seconds) {
  return {fixture("torture.exe"), "--seconds", std::to_string(program_seconds), "--only", kinds};
}

// Returns false for a stack that no walk can show whole: its thread is in Wine's dispatcher of system calls, or in the
// routine without unwind data of the kind moves-rsp. Such a stack is walked nevertheless. (This is not decided by the
// thread's name, since not every dump has the name.)
bool can_be_whole(const Snapshot& snapshot, const Thread& thread) {
  const auto& frames = thread.stack.frames;
  if (!frames.empty() && in_wine_dispatcher(frames[0].address)) return false;
  if (frames.size() < 2 || frames[1].kind != FrameKind::gap) return true;
  const Frame& leaf = frames[0];
  if (leaf.module != Frame::kNone) {
    const Module& module = snapshot.modules[static_cast<std::size_t>(leaf.module)];
    if (module_name(module) == "ntdll.dll" && clears_new_stack(leaf.address - module.base)) {
      return false;
    }
  }
  return leaf.name != "hunt_stand_without_data";
}

struct WholeOf {
  std::size_t samples = 0, whole = 0;
};

struct Tally {
  WholeOf snapshot, automatic, at_once;  // by the request
  std::size_t moments = 0;  // of the dumps at once
  CallAgreement calls;      // of the dumps from outside
  CountersBuilder counters;
  BreakerState breaker;
  std::size_t dumps = 0;
  std::size_t left_out = 0;  // stacks that cannot be whole
  std::size_t partial = 0;
  std::vector<std::string> examples;  // of stacks that are not whole or impossible
  std::map<std::string, std::size_t> impossible;  // numbers of stacks, by what is wrong with them
  // Numbers of stacks that could have shown an error, and are right.
  std::size_t own_methods = 0, own_images = 0;
  std::size_t runtime_code = 0;  // frames in code that the runtime made and that belongs to no method
};

// Whether a frame is in such code, or in a stub that the JIT has inlined. (A stub that is a method of the runtime may
// lose its name with its code.)
bool is_runtime_code(const Frame& frame) {
  return frame.kind == FrameKind::stub && frame.function == 0 && frame.module == Frame::kNone;
}

// Returns what is wrong, as the checks of impossible_frames.h do.
std::string nameless_code(const Thread& thread) {
  const auto nameless = [](const Frame& frame) { return is_runtime_code(frame) && frame.name.empty(); };
  return std::ranges::any_of(thread.stack.frames, nameless) ? "code of the runtime without a name" : "";
}

// Checks every thread, whether its stack is whole or not.
void look_for_the_impossible(const Snapshot& snapshot, const Thread& thread, Tally& tally) {
  std::vector<std::string> names;
  for (const Frame& frame : thread.stack.frames) {
    names.push_back(frame.name);
    tally.runtime_code += is_runtime_code(frame) && frame.inline_depth == 0 && !frame.name.empty();
  }
  tally.own_methods += calls(names, "dm_A", "CalledByA") || calls(names, "dm_B", "CalledByB");
  tally.own_images +=
      calls(names, "hunt_calls_a", "turn_call_a") || calls(names, "hunt_calls_b", "turn_call_b");
  for (const std::string& wrong :
       {wrong_method(names), wrong_image(names), never_called(names), nameless_code(thread)}) {
    if (!wrong.empty() && ++tally.impossible[wrong] == 1) {
      tally.examples.push_back(wrong + ":\n" + to_text(snapshot, thread));
    }
  }
}

void count(const Snapshot& snapshot, Tally& tally) {
  ++tally.dumps;
  tally.breaker = snapshot.breaker;
  tally.moments += snapshot.moments.size();
  tally.calls += snapshot.calls;
  for (const Thread& thread : snapshot.threads) {
    look_for_the_impossible(snapshot, thread, tally);
    if (!can_be_whole(snapshot, thread)) {
      ++tally.left_out;
      continue;
    }
    WholeOf& of = snapshot.engine == Engine::automatic  ? tally.automatic
                  : snapshot.engine == Engine::snapshot ? tally.snapshot
                                                        : tally.at_once;
    of.samples += !thread.stack.frames.empty();
    of.whole += thread.stack.whole();
    if (!thread.stack.whole() && !thread.stack.frames.empty() && tally.partial++ < 3) {
      tally.examples.push_back(to_text(snapshot, thread));
    }
    tally.counters.add(thread);
  }
}

void print(const Tally& tally, const Counters& counters, const std::string& result) {
  std::printf("%zu dumps, %llu samples, %llu whole, %llu threads ending; %llu runs closed, %llu at "
              "the root, %llu open\n",
              tally.dumps, counters.samples, counters.whole, counters.skipped, counters.runs_closed,
              counters.runs_root, counters.runs_open);
  std::printf("frozen us p50 %llu p99 %llu max %llu; %llu freezes ended by the supervisor; %llu "
              "probes, %llu failed; %llu walked from the copy instead; breaker %u threads%s\n",
              counters.frozen.p50_ns / 1000, counters.frozen.p99_ns / 1000,
              counters.frozen.max_ns / 1000, counters.interventions, counters.probes_run,
              counters.probes_failed, counters.fallbacks, counters.breaker.threads_off,
              counters.breaker.process_off ? ", process off" : "");
  for (const auto& [hresult, times] : counters.refusals) {
    std::printf("  refused %#x %llu times\n", hresult, times);
  }
  for (std::size_t i = 0; i < kOpenReasons; ++i) {
    if (counters.open_by_reason[i] == 0) continue;
    std::printf("  open: %s %llu times\n",
                std::string(enum_name(static_cast<OpenReason>(i))).c_str(), counters.open_by_reason[i]);
  }
  std::printf("%zu stacks that cannot be whole left out\n", tally.left_out);
  std::printf("asked by snapshot: %zu of %zu whole; by auto: %zu of %zu, of %llu threads the runtime was "
              "not asked; at once, or from outside: %zu of %zu, in %zu moments\n",
              tally.snapshot.whole, tally.snapshot.samples, tally.automatic.whole,
              tally.automatic.samples, counters.not_asked, tally.at_once.whole,
              tally.at_once.samples, tally.moments);
  if (tally.calls.calls != 0) std::printf("%s\n", sentence(tally.calls).c_str());
  std::printf("dynamic methods named right %zu times, images that take turns %zu times, code of the runtime %zu "
              "times\n",
              tally.own_methods, tally.own_images, tally.runtime_code);
  for (const auto& [wrong, times] : tally.impossible) {
    std::printf("  impossible: %s, %zu times\n", wrong.c_str(), times);
  }
  for (const std::string& example : tally.examples) std::printf("%s\n", example.c_str());
  std::printf("%s\n", result.c_str());
}

void print(const BothWalks& both) {
  std::printf("%llu samples walked by both engines, %llu different; %llu stacks that cannot be whole left out\n",
              both.compared, both.different, both.left_out);
  for (int i = 0; i < BothWalks::kKinds; ++i) {
    if (both.kinds[i] != 0) std::printf("  different: %s %llu times\n", BothWalks::kWords[i], both.kinds[i]);
  }
  std::printf("%s", both.examples);
}

// The variables with which a program of these kinds is started.
Environment environment_for(const std::string& kinds) {
  return kinds == "all" || kinds.find("dynamic") != std::string::npos ? dynamic_methods_may_end() : Environment{};
}

void dump_all_the_time(const std::string& kinds, int seconds) {
  const ScopedEnvironment environment(environment_for(kinds));
  ChildProcess torture(mixwalk::torture(kinds, seconds + kAtMostSeconds));
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  const BothWalksPage both(torture.id());
  ASSERT_NE(both.get(), nullptr);
  Tally tally;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  {
    TargetSession session = attach_to(torture.id(), "mixwalk_both.dll");
    while (Clock::now() < end) {
      const DumpRequest requests[] = {
          {.engine = Engine::snapshot},
          {.engine = Engine::automatic},
          {.engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true}};
      count(dump_named(session, requests[tally.dumps % std::size(requests)]), tally);
    }
    EXPECT_EQ(session.leave(), "");
  }
  torture.write_line("STOP");
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);

  const Counters counters = tally.counters.finish(tally.breaker);
  print(tally, counters, result);
  print(*both.get());
  const auto of = [](std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  const std::uint64_t least = least_samples(seconds);
  ASSERT_GT(counters.samples, least);
  // One stack in 1,000 and one run in 10,000 may be incomplete, in a short test two at most, because Wine's look-up may
  // miss an entry that exists (rtl_unwind_step.cpp).
  EXPECT_LE(counters.samples - counters.whole,
            std::max<std::uint64_t>(2, counters.samples / 1'000));
  const std::uint64_t ended = counters.runs_closed + counters.runs_root;
  EXPECT_LE(counters.runs_open, std::max<std::uint64_t>(2, ended / 10'000));
  ASSERT_GT(both->compared, least);
  EXPECT_LE(of(both->different, both->compared), 0.001);
  EXPECT_LE(both->gaps_of_one, std::max<std::uint64_t>(2, both->compared / 1'000));
  EXPECT_TRUE(tally.impossible.empty());
}

TEST(Torture, TheProgramNeverNotices) { dump_all_the_time(kinds(), seconds(8)); }

// Dumps are made once a second, one by one and at once in turn. The program is not asked for names, so a method's name
// may be gone with its code before the name is read. Then the name is missing, but it is never another method's.
TEST(Torture, FromOutsideTheProgramNeverNotices) {
  const ScopedEnvironment environment(environment_for(kinds()));
  const int length = seconds(6);
  ChildProcess torture(mixwalk::torture(kinds(), length + kAtMostSeconds));
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  Tally tally;
  {
    OutsideSession session(torture.id(), mixwalk_exe());
    auto next = Clock::now();
    for (const auto end = next + std::chrono::seconds(length); next < end; next += std::chrono::seconds(1)) {
      std::this_thread::sleep_until(next);
      Snapshot snapshot = session.dump(tally.dumps % 2 == 0 ? 0 : kAtOnceDeadlineMs);
      name_native_frames(snapshot);
      count(snapshot, tally);
    }
  }
  torture.write_line("STOP");
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);

  const Counters counters = tally.counters.finish(tally.breaker);
  print(tally, counters, result);
  ASSERT_GT(counters.samples, static_cast<std::uint64_t>(length));
  EXPECT_GT(tally.calls.agreed, 0u);
  // Code outside the images whose unwind data the program itself has registered is walked by guesses, because from
  // outside the program's callbacks are not called. None of the ordinary kinds has such code.
  const std::uint64_t guessed = std::getenv("MIXWALK_TORTURE_KINDS") != nullptr ? counters.guessed : 0;
  EXPECT_LE(counters.samples - counters.whole - guessed, std::max<std::uint64_t>(2, counters.samples / 1'000));
  EXPECT_EQ(counters.open_by_reason[static_cast<std::size_t>(OpenReason::none)], 0u);
  EXPECT_TRUE(tally.impossible.empty());
}

TEST(Torture, OfEveryKindTheProgramNeverNotices) {
  if (std::getenv("MIXWALK_TORTURE_KINDS") != nullptr) GTEST_SKIP() << "other kinds are asked for";
  dump_all_the_time("all", seconds(8));
}

// The control: the program's own result when mixwalk does not attach. It takes 2 s in an ordinary run.
TEST(Torture, WithNobodyLookingItDoesTheSame) {
  const ScopedEnvironment environment(environment_for(kinds()));
  ChildProcess torture(mixwalk::torture(kinds(), seconds(2)));
  ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
  const std::string result = torture.read_line().value_or("(closed)");
  EXPECT_TRUE(result.starts_with("OK ")) << result;
  EXPECT_EQ(torture.wait(30'000), 0u);
  std::printf("%s\n", result.c_str());
}

// The program ends by ExitProcess in the middle of everything, from a thread of the system. This is done once;
// MIXWALK_TORTURE_ENDS for more.
TEST(Torture, EndsInTheMiddleOfEverythingWithItsOwnCode) {
  const int ends = wanted("MIXWALK_TORTURE_ENDS", 1, 1);
  const ScopedEnvironment environment(environment_for(kinds()));
  for (int i = 0; i < ends; ++i) {
    std::vector<std::string> line = mixwalk::torture(kinds(), 3);
    line.insert(line.end(), {"--end", "exit-process"});
    ChildProcess torture(line);
    ASSERT_TRUE(torture.read_line().value_or("").starts_with("READY"));
    ChildProcess recorder({mixwalk_exe(), "record", "-i", "1ms", "--budget", "0", "-p", std::to_string(torture.id()),
                           "-o", temporary_file("ends.mixwalk")});
    const std::string result = torture.read_line().value_or("(closed)");
    EXPECT_TRUE(result.starts_with("OK ")) << result;
    EXPECT_EQ(torture.wait(30'000), 77u) << "end " << i;
    EXPECT_EQ(recorder.wait(60'000), 0u);
  }
}

}  // namespace
}  // namespace mixwalk
