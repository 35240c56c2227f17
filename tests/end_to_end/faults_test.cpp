// Runs mixwalk record beside programs that use faults for purposes of their own (fixtures/faults): the faults that such
// a program waits for must reach the program, and no fault of ours may.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

// The program's counters up to now.
struct Count {
  int rounds = 0, alarms = 0, strays = 0, probes = 0, probe_faults = 0, filtered = 0;
};

class Faults : public testing::Test {
 protected:
  static constexpr int kRounds = 10;

  Faults() : file_(temporary_file("faults.mixwalk")) {}
  ~Faults() override { remove_file(file_); }

  static Count count(ChildProcess& program) {
    program.write_line("COUNT");
    std::istringstream line(program.read_line().value_or(""));
    std::string rounds;
    Count count;
    line >> rounds >> count.rounds >> count.alarms >> count.strays >> count.probes >>
        count.probe_faults >> count.filtered;
    EXPECT_EQ(rounds, "ROUNDS") << "the program is gone";
    return count;
  }

  // Returns the program's counters after this many more rounds, or after half a minute without a round.
  static Count count_after_rounds(ChildProcess& program, int rounds) {
    const ULONGLONG end = GetTickCount64() + 30'000;
    const Count first = count(program);
    Count now = first;
    while (now.rounds < first.rounds + rounds && GetTickCount64() < end &&
           !testing::Test::HasFailure()) {
      Sleep(50);
      now = count(program);
    }
    return now;
  }

  // Waits for some rounds without a visitor, visits, waits for some rounds more, and returns the program's counters.
  struct Visit {
    Count before, during, after;
  };
  // `rounds` is the number of rounds to wait for before and after the visit; 0 for a situation that counts no rounds.
  Visit visit(const std::string& situation,
              const std::vector<std::string>& options = {"-i", "1ms", "--budget", "0"},
              int rounds = kRounds) {
    const int seconds = wanted("MIXWALK_FAULTS_SECONDS", 2, 1);
    ChildProcess program({fixture("faults.exe"), situation});
    EXPECT_TRUE(program.read_line().value_or("").starts_with("READY"));
    Visit visit{.before = count_after_rounds(program, rounds)};
    std::vector<std::string> arguments = {mixwalk_exe(), "record", "-p",
                                          std::to_string(program.id()), "-o", file_, "--duration",
                                          std::to_string(seconds) + "s"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult result = run_program(arguments, 120'000);
    EXPECT_EQ(result.exit_code, 0u) << result.err;
    visit.during = count(program);
    visit.after = count_after_rounds(program, rounds);
    program.write_line("STOP");
    EXPECT_EQ(program.wait(30'000), 0u) << "the program's own exit code";
    std::printf("%s: rounds %d, %d, %d; alarms %d, strays %d; %d of %d probes faulted\n",
                situation.c_str(), visit.before.rounds, visit.during.rounds, visit.after.rounds,
                visit.after.alarms, visit.after.strays, visit.after.probe_faults,
                visit.after.probes);
    return visit;
  }

  // How many samples of the thread with that name are whole, and how many are not.
  struct Stacks {
    int whole = 0, cut = 0;
  };
  Stacks stacks_of(const std::string& thread) const {
    const Recording recording = read_whole(file_);
    Stacks stacks;
    for (const auto& sample : recording.samples) {
      if (recording.threads[sample.thread].name != thread) continue;
      ++(is_whole(recording, sample) ? stacks.whole : stacks.cut);
    }
    return stacks;
  }

  std::string file_;
};

// When the last round is counted, its alarm may already be counted, a moment earlier.
void expect_every_alarm(const Count& count) {
  EXPECT_GE(count.rounds, 20);
  EXPECT_GE(count.alarms, count.rounds);
  EXPECT_LE(count.alarms, count.rounds + 1);
  EXPECT_EQ(count.strays, 0);
}

TEST_F(Faults, AGuardPageInAStackGivesItsAlarms) {
  expect_every_alarm(visit("guards").after);
  EXPECT_GT(stacks_of("standing").cut, 0) << "a stack that could not all be read is not whole";
}

TEST_F(Faults, AGuardPageInAStackGivesItsAlarmsBesideTheCopyEngine) {
  expect_every_alarm(visit("guards", {"-i", "1ms", "--budget", "0", "--engine", "copy"}).after);
}

TEST_F(Faults, AGuardOnTheHeadersOfAnImageGivesItsAlarms) {
  expect_every_alarm(visit("header").after);
}

TEST_F(Faults, AClosedPageInAStackCutsItsSampleAndNothingFaults) {
  const Count count = visit("hole", {"-i", "1ms", "--budget", "0"}, 0).after;
  EXPECT_EQ(count.strays, 0);
  const Stacks stacks = stacks_of("standing");
  EXPECT_EQ(stacks.whole, 0);
  EXPECT_GT(stacks.cut, 0);
}

// A thread that walks itself reaches the page as well.
TEST_F(Faults, AClosedPageInTheStackOfAThrowIsNotRead) {
  const Visit counts = visit("throw", {"--on", "exception"});
  EXPECT_GE(counts.during.rounds, counts.before.rounds + kRounds);
  EXPECT_EQ(counts.after.strays, 0);
  EXPECT_GT(stacks_of("standing").cut, 0);
}

// A function-table callback reads a closed page, and handles the fault itself.
TEST_F(Faults, ACallbackThatHandlesItsOwnFaultGoesOnToItsEnd) {
  const Visit counts = visit("callback");
  EXPECT_GT(counts.during.probes, 100) << "then it was never asked";
  EXPECT_EQ(counts.after.probe_faults, counts.after.probes);
  // Methods are compiled as before, which shows that the lock of the function tables was released.
  EXPECT_GT(counts.during.rounds, counts.before.rounds);
  EXPECT_GE(counts.after.rounds, counts.during.rounds + kRounds);
  EXPECT_GT(stacks_of("dynamic").whole, 0);
}

// As Exploit Protection's Export Address Filtering does it. Only the loader may read the exports.
TEST_F(Faults, AGuardOnTheExportsOfTheSystemsImagesLeavesStacksWhole) {
  const Visit counts = visit("exports");
  EXPECT_EQ(counts.before.filtered, 3);
  EXPECT_EQ(counts.after.filtered, 3);
  EXPECT_EQ(counts.after.strays, 0);
  for (const char* thread : {"standing", "working"}) {
    const Stacks stacks = stacks_of(thread);
    EXPECT_GT(stacks.whole, 10) << thread;
    EXPECT_EQ(stacks.cut, 0) << thread;
  }
}

TEST_F(Faults, DumpsOfAProgramWhoseExportsAreGuardedAreWhole) {
  ChildProcess program({fixture("faults.exe"), "exports"});
  ASSERT_TRUE(program.read_line().value_or("").starts_with("READY"));
  count_after_rounds(program, kRounds);
  const auto expect_whole = [](const nlohmann::json& dump) {
    const nlohmann::json* const thread = dumped_thread(dump, "standing");
    ASSERT_NE(thread, nullptr);
    const std::vector<std::string> frames = dumped_frames(dump, *thread, Rvas::left_out);
    EXPECT_TRUE(thread->at("whole")) << testing::PrintToString(frames);
    EXPECT_THAT(frames, testing::Contains("native ntdll.dll NtWaitForMultipleObjects"));
    EXPECT_THAT(frames, testing::Contains("native ntdll.dll RtlUserThreadStart"));
    EXPECT_THAT(frames, testing::Contains(testing::HasSubstr("Faults.Program")));
  };
  for (const char* way : {"--inside", "--outside"}) {
    SCOPED_TRACE(way);
    expect_whole(dump_as_json(program.id(), {way}));
  }
  const std::string file = temporary_file("faults.dmp");
  const ProgramResult written = run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", file});
  EXPECT_EQ(written.exit_code, 0u) << written.err;
  const ProgramResult read = run_program({mixwalk_exe(), "dump", "-f", "json", file});
  EXPECT_EQ(read.exit_code, 0u) << read.err;
  if (read.exit_code == 0) expect_whole(nlohmann::json::parse(read.out));
  remove_file(file);
  const Count after = count(program);
  EXPECT_EQ(after.filtered, 3);
  EXPECT_EQ(after.strays, 0);
  program.write_line("STOP");
  EXPECT_EQ(program.wait(30'000), 0u);
}

}  // namespace
}  // namespace mixwalk
