#include "walker/hang/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/builders/hang_builder.h"
#include "walker/hang/function_ids.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::managed_thread;
using test::native_thread;
using Frames = std::vector<std::string>;

constexpr std::uint64_t kFirst = 1'795'412'335'000, kTenSeconds = 10'000;
const std::string kWait = "ntdll!NtWaitForMultipleObjects";
const std::string kSleep = "M System.Threading.Thread.Sleep(System.Int32)";

Frames waits_for_monitor() {
  return managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", "M Orders.Submit()"});
}
Frames waits_for_event() {
  return managed_thread({kWait, "coreclr!", "M System.Threading.WaitHandle.WaitOne()", "M Orders.Submit()"});
}
Frames idle() {
  return managed_thread({"ntdll!NtRemoveIoCompletion", "M System.Threading.LowLevelLifoSemaphore.Wait(System.Int32)",
                         "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"});
}
Frames runs_in(const std::string& leaf) { return managed_thread({leaf, "M Orders.Work()"}); }

HangBuilder dump(int number) { return HangBuilder(kFirst + static_cast<std::uint64_t>(number) * kTenSeconds); }

std::vector<ThreadHistory> match(const std::vector<HangBuilder>& builders) {
  std::vector<Snapshot> dumps;
  std::vector<std::vector<std::vector<std::uint64_t>>> functions;
  for (HangBuilder builder : builders) {
    dumps.push_back(builder.snapshot());
    functions.push_back(function_ids(dumps.back()));
  }
  std::vector<std::uint32_t> numbers(dumps.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  return match_threads(dumps, numbers, functions);
}

Verdict verdict(const std::vector<HangBuilder>& builders) { return match(builders).front().verdict; }

TEST(MatchTest, OneDumpSaysNothing) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor())}), Verdict::once);
}

TEST(MatchTest, TheSameStackWithoutProcessorTimeIsStuck) {
  const auto threads =
      match({dump(0).thread(1, waits_for_monitor()).cpu(50), dump(1).thread(1, waits_for_monitor()).cpu(50)});
  EXPECT_EQ(threads[0].verdict, Verdict::stuck);
  EXPECT_EQ(threads[0].since, 0u);
  EXPECT_EQ(threads[0].milliseconds, kTenSeconds);
  EXPECT_EQ(threads[0].cpu, 0u);
}

TEST(MatchTest, WhereProcessorTimesAreUnknownTheSameStackIsStuck) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()), dump(1).thread(1, waits_for_monitor())}), Verdict::stuck);
}

TEST(MatchTest, WhoRanInBetweenHasComeBackToTheSamePlace) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()).cpu(50), dump(1).thread(1, waits_for_monitor()).cpu(80)}),
            Verdict::returned);
}

// The time that the system needs to stop a thread counts as the thread's own, and processor time grows by whole ticks
// of the clock. So a growth by one tick (under Wine, by one of the user's time and one of the kernel's) does not prove
// that the thread ran.
TEST(MatchTest, OneTickOfTheClockIsNoProofThatAThreadRan) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()).cpu(50), dump(1).thread(1, waits_for_monitor()).cpu(70)}),
            Verdict::stuck);
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()).cpu(50), dump(1).thread(1, waits_for_monitor()).cpu(71)}),
            Verdict::returned);
}

// One short request between two dumps takes one tick at most, which proves nothing. A request between every two dumps
// shows that the thread works.
TEST(MatchTest, AThreadThatWorksALittleEachTimeHasComeBack) {
  const auto series = [](std::initializer_list<std::uint64_t> cpu) {
    std::vector<HangBuilder> dumps;
    for (const std::uint64_t ms : cpu) {
      dumps.push_back(dump(dumps.size()).thread(1, waits_for_monitor()).cpu(ms));
    }
    return match(dumps);
  };
  EXPECT_EQ(series({50, 58, 64, 73})[0].verdict, Verdict::returned);
  EXPECT_EQ(series({50, 58, 64, 73})[0].cpu, 23u * 10'000);
  EXPECT_EQ(series({50, 58, 64, 64, 64})[0].verdict, Verdict::stuck) << "14 ms";
  EXPECT_EQ(series({50, 60, 60, 60, 60, 70})[0].verdict, Verdict::stuck) << "two ticks in five times";
  EXPECT_EQ(series({50, 50, 50, 62})[0].verdict, Verdict::stuck) << "one tick";
  EXPECT_EQ(series({50, 60, 70})[0].verdict, Verdict::stuck) << "one tick under Wine, each of two times";
  EXPECT_EQ(series({50, 66, 82})[0].verdict, Verdict::returned) << "one tick on Windows, each of two times";
  EXPECT_EQ(series({50, 80, 110})[0].verdict, Verdict::returned);
}

// The frames of a thread that spins, below its leaf.
Frames spins(const std::string& leaf, const Frames& methods) {
  Frames frames = {leaf};
  if (leaf == "ntdll!NtDelayExecution") frames.insert(frames.end(), {"coreclr!", kSleep});
  frames.push_back("M System.Threading.SpinWait.SpinOnceCore(System.Int32)");
  frames.insert(frames.end(), methods.begin(), methods.end());
  frames.push_back("M Orders.Submit()");
  return managed_thread(frames);
}

// Real case: "back at the same place: sleeps". A thread that spins is met in a sleep, in a yield or at work.
TEST(MatchTest, AThreadThatSpinsIsInOneWaitWhateverItDoesMeanwhile) {
  const Frames lock = {"M System.Threading.SpinLock.ContinueTryEnter(System.Int32, System.Boolean)"};
  const Frames callback = {"M System.Threading.CancellationTokenRegistration.Dispose()"};
  const auto spinning = [&](const std::string& leaf, std::uint64_t cpu, const Frames& methods) {
    return verdict({dump(0).thread(1, spins("ntdll!NtDelayExecution", methods)).cpu(50),
                    dump(1).thread(1, spins(leaf, methods)).cpu(50 + cpu),
                    dump(2).thread(1, spins("ntdll!NtDelayExecution", methods)).cpu(50 + 2 * cpu)});
  };
  for (const std::string leaf : {"ntdll!NtDelayExecution", "ntdll!NtYieldExecution", "coreclr!"}) {
    EXPECT_EQ(spinning(leaf, 900, lock), Verdict::stuck) << leaf;
    EXPECT_EQ(spinning(leaf, 900, callback), Verdict::stuck) << leaf;
    EXPECT_EQ(spinning(leaf, 900, {}), Verdict::waiting) << leaf;
    EXPECT_EQ(spinning(leaf, 5'100, lock), Verdict::spinning) << leaf;
  }
  // A sleep in the program's own loop, and a lock that is asked for in another method.
  const Frames sleeps = managed_thread({"ntdll!NtDelayExecution", "coreclr!", kSleep, "M Orders.Submit()"});
  EXPECT_EQ(verdict({dump(0).thread(1, sleeps).cpu(50), dump(1).thread(1, sleeps).cpu(90)}), Verdict::returned);
  Frames other = spins("ntdll!NtDelayExecution", lock);
  std::ranges::replace(other, "M Orders.Submit()", "M Orders.Cancel()");
  const HangBuilder before = dump(0).thread(1, spins("ntdll!NtDelayExecution", lock)).cpu(50);
  EXPECT_EQ(verdict({before, dump(1).thread(1, other).cpu(60)}), Verdict::moved);
}

TEST(MatchTest, AWaitForASignalIsNoProof) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_event()).cpu(5), dump(1).thread(1, waits_for_event()).cpu(5)}),
            Verdict::waiting);
}

TEST(MatchTest, AnIdleThreadIsIdle) {
  EXPECT_EQ(verdict({dump(0).thread(1, idle()).cpu(5), dump(1).thread(1, idle()).cpu(5)}), Verdict::idle);
  EXPECT_EQ(verdict({dump(0).thread(1, idle()).cpu(5), dump(1).thread(1, idle()).cpu(900)}), Verdict::idle);
}

// A thread that adds to a full collection, dump by dump with the position of its queue.
std::vector<HangBuilder> adds(std::initializer_list<std::uint64_t> positions) {
  const std::string of = "M System.Collections.Concurrent.BlockingCollection<System.Int32>.";
  std::vector<HangBuilder> dumps;
  for (const std::uint64_t position : positions) {
    HangBuilder& next = dumps.emplace_back(dump(static_cast<int>(dumps.size())));
    next.thread(1, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Wait(System.Object)",
                                   "M System.Threading.SemaphoreSlim.Wait(System.Int32)", of + "Add(System.Int32)",
                                   "M Orders.Put()"}));
    next.last().queue_position = position;
  }
  return dumps;
}

TEST(MatchTest, AQueueThatMoves) {
  EXPECT_EQ(verdict(adds({5, 6})), Verdict::returned);
  EXPECT_EQ(verdict(adds({5, 5})), Verdict::stuck);
  EXPECT_EQ(verdict(adds({5, 6, 7})), Verdict::returned);
  const std::vector<ThreadHistory> stopped = match(adds({5, 6, 6}));
  EXPECT_EQ(stopped[0].verdict, Verdict::stuck);
  EXPECT_EQ(stopped[0].since, 1u);
  EXPECT_EQ(stopped[0].polls_since, 1u);
  EXPECT_TRUE(stopped[0].sightings[1].went_on);
  EXPECT_FALSE(stopped[0].sightings[2].went_on);
}

TEST(MatchTest, AQueueOfWhichNothingIsKnownProvesNothing) {
  EXPECT_EQ(verdict(adds({0, 0})), Verdict::stuck);
  EXPECT_EQ(verdict(adds({0, 6})), Verdict::stuck);
}

TEST(MatchTest, ARunningThreadInTheSameFunctionSpins) {
  const auto threads = match({dump(0).thread(1, runs_in("orders_native!a")).cpu(100),
                              dump(1).thread(1, runs_in("orders_native!a")).cpu(9'900)});
  EXPECT_EQ(threads[0].verdict, Verdict::spinning);
  EXPECT_EQ(threads[0].cpu, 9'800u * 10'000);
}

TEST(MatchTest, AThreadThatRanLittleDoesNotSpin) {
  EXPECT_EQ(verdict({dump(0).thread(1, runs_in("orders_native!a")).cpu(100),
                     dump(1).thread(1, runs_in("orders_native!a")).cpu(300)}),
            Verdict::returned);
}

TEST(MatchTest, AThreadThatRanLittleOfAVeryLongTimeDoesNotSpin) {
  // In units of 100 ns, this time does not fit into 64 bits.
  constexpr std::uint64_t kVeryLong = (std::uint64_t{1} << 63) / 5'000 + 1;
  HangBuilder later(kFirst + kVeryLong);
  EXPECT_EQ(verdict({dump(0).thread(1, runs_in("orders_native!a")).cpu(0),
                     later.thread(1, runs_in("orders_native!a")).cpu(100)}),
            Verdict::returned);
}

TEST(MatchTest, WithoutProcessorTimesNobodySpins) {
  EXPECT_EQ(verdict({dump(0).thread(1, runs_in("orders_native!a")), dump(1).thread(1, runs_in("orders_native!a"))}),
            Verdict::unclear);
}

TEST(MatchTest, AThreadThatMovedSaysWhatIsInCommon) {
  const auto threads =
      match({dump(0).thread(1, managed_thread({"orders_native!a", "M Orders.Read()", "M Orders.Work()"})),
             dump(1).thread(1, managed_thread({"orders_native!b", "M Orders.Write()", "M Orders.Work()"}))});
  EXPECT_EQ(threads[0].verdict, Verdict::moved);
  EXPECT_EQ(threads[0].common, 6u);  // Work, and the frames with which every thread begins
}

TEST(MatchTest, FramesAboveTheWaitMayDiffer) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()),
                     dump(1).thread(1, managed_thread({"ntdll!NtWaitForSingleObject", "kernelbase!Wait", "coreclr!",
                                                       "M System.Threading.Monitor.Enter(System.Object)",
                                                       "M Orders.Submit()"}))}),
            Verdict::stuck);
}

TEST(MatchTest, FramesThatAreMissingInOneDumpAreNoMove) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()), dump(1).thread(1, {kWait, "coreclr!", "gap"})}),
            Verdict::unclear);
}

// From inside, the runtime's notes name fewer P/Invokes than from outside.
TEST(MatchTest, AnInlinedCallThatOnlyOneDumpNamesIsNoMove) {
  const HangBuilder first = dump(0).thread(1, waits_for_monitor());
  HangBuilder second = dump(1).thread(1, waits_for_monitor());
  std::vector<StackFrame>& frames = second.last().stack.frames;
  StackFrame inlined = frames[3];
  inlined.kind = FrameKind::stub;
  inlined.inline_depth = 1;
  frames.insert(frames.begin() + 3, inlined);
  EXPECT_EQ(verdict({first, second}), Verdict::stuck);
  frames.back().address += 8;
  EXPECT_EQ(verdict({first, second}), Verdict::moved);
}

// The dump as it is if the runtime's debugging library did not answer: managed code is code without a name, and callers
// of such code were found by guessing.
HangBuilder unasked(HangBuilder builder) {
  bool below_managed = false;
  for (Frame& frame : builder.last().stack.frames) {
    if (below_managed) frame.trust = Trust::frame_pointer;
    below_managed = frame.kind == FrameKind::managed;
    if (below_managed) frame = {.trust = frame.trust, .address_kind = frame.address_kind, .address = frame.address};
  }
  builder.snapshot().unasked = "the DAC did not answer within 30 s";
  return builder;
}

TEST(MatchTest, ADumpWithoutManagedFramesProvesNoMove) {
  const HangBuilder first = dump(0).thread(1, waits_for_monitor()), second = dump(1).thread(1, waits_for_monitor());
  EXPECT_EQ(verdict({unasked(first), second}), Verdict::stuck);
  const auto at = [](int number, const std::string& leaf, const std::string& caller) {
    return dump(number).thread(1, managed_thread({leaf, "M Orders.Submit()", caller}));
  };
  const HangBuilder before = at(0, kWait, "M Orders.A()");
  EXPECT_EQ(verdict({unasked(before), at(1, kWait, "M Orders.B()")}), Verdict::unclear) << "A was guessed";
  EXPECT_EQ(verdict({before, unasked(at(1, kWait, "M Orders.B()"))}), Verdict::unclear) << "B was guessed";
  EXPECT_EQ(verdict({before, at(1, kWait, "M Orders.B()")}), Verdict::moved) << "nothing was guessed";
  EXPECT_EQ(verdict({unasked(before), at(1, "ntdll!NtDelayExecution", "M Orders.A()")}), Verdict::moved)
      << "the difference is above all guesses";
}

// Each dump shows another instruction of a loop in managed code.
TEST(MatchTest, ADumpWithoutManagedFramesProvesNoMoveOfAThreadThatRuns) {
  const auto at = [](int number, std::uint64_t instruction) {
    HangBuilder builder = dump(number).thread(1, managed_thread({"M Orders.Work()"})).cpu(100 + number * 9'000);
    builder.last().stack.frames.front().address += instruction;
    return builder;
  };
  EXPECT_EQ(verdict({at(0, 0), at(1, 8)}), Verdict::spinning);
  EXPECT_EQ(verdict({unasked(at(0, 0)), at(1, 8)}), Verdict::unclear);
  EXPECT_EQ(verdict({at(0, 0), unasked(at(1, 8))}), Verdict::unclear);
  EXPECT_EQ(verdict({unasked(at(0, 0)), unasked(at(1, 8))}), Verdict::unclear);
}

// Below a guessed frame, the CLR's own walker has reported a managed frame.
TEST(MatchTest, AFrameThatTheRuntimeReportedIsProofBelowAGuess) {
  const auto at = [](int number, const std::string& method, Trust trust) {
    HangBuilder builder = dump(number).thread(1, managed_thread({kWait, "orders_native!b", method, "M Orders.Work()"}));
    builder.last().stack.frames[1].trust = Trust::frame_pointer;
    builder.last().stack.frames[2].trust = trust;
    return builder;
  };
  const auto verdict_of = [&](Trust trust) { return verdict({at(0, "M A.F()", trust), at(1, "M A.G()", trust)}); };
  EXPECT_EQ(verdict_of(Trust::runtime), Verdict::moved);
  EXPECT_EQ(verdict_of(Trust::dynamic), Verdict::unclear);
  EXPECT_EQ(verdict({at(0, "M A.F()", Trust::runtime), at(1, "M A.G()", Trust::dynamic)}), Verdict::unclear);
}

// The guess is above the frame by which the wait was recognised.
TEST(MatchTest, AGuessAboveTheWaitProvesNoMove) {
  const auto at = [](int number, const std::string& caller) {
    return dump(number).thread(
        1, managed_thread({kWait, "coreclr!", "M System.Threading.Monitor.Enter(System.Object)", caller}));
  };
  HangBuilder guessed = at(0, "M A.F()");
  guessed.last().stack.frames[1].trust = Trust::scan;
  EXPECT_EQ(verdict({guessed, at(1, "M A.G()")}), Verdict::unclear);
  EXPECT_EQ(verdict({at(0, "M A.F()"), at(1, "M A.G()")}), Verdict::moved);
}

TEST(MatchTest, AStackThatGoesOnBelowAGuessProvesNoMove) {
  HangBuilder cut = unasked(dump(0).thread(1, waits_for_monitor()));
  cut.last().stack.frames.pop_back();
  EXPECT_EQ(verdict({cut, dump(1).thread(1, waits_for_monitor())}), Verdict::unclear);
}

TEST(MatchTest, NewAndGoneThreads) {
  const auto threads =
      match({dump(0).thread(1, idle()).thread(2, idle()), dump(1).thread(2, idle()).thread(3, idle())});
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0].verdict, Verdict::gone);
  EXPECT_EQ(threads[1].verdict, Verdict::idle);
  EXPECT_EQ(threads[2].verdict, Verdict::appeared);
}

TEST(MatchTest, AnIdThatIsGivenAgainIsAnotherThread) {
  HangBuilder first = dump(0).thread(1, waits_for_monitor()), second = dump(1).thread(1, waits_for_monitor());
  first.last().created = 133'000'000'000'000'000;
  second.last().created = 133'000'000'500'000'000;
  const auto threads = match({first, second});
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].verdict, Verdict::gone);
  EXPECT_EQ(threads[1].verdict, Verdict::appeared);
}

TEST(MatchTest, AnotherIdOfTheRuntimeIsAnotherThread) {
  HangBuilder first = dump(0).thread(1, waits_for_monitor()), second = dump(1).thread(1, waits_for_monitor());
  second.last().clr_id = first.last().clr_id + 1;
  EXPECT_EQ(match({first, second}).size(), 2u);
}

TEST(MatchTest, AProcessorTimeThatRunsBackwardsIsUnknown) {
  const auto threads =
      match({dump(0).thread(1, waits_for_monitor()).cpu(50), dump(1).thread(1, waits_for_monitor()).cpu(5)});
  EXPECT_EQ(threads[0].verdict, Verdict::stuck);
  EXPECT_EQ(threads[0].cpu, std::nullopt);
}

TEST(MatchTest, JsonHasTheTimeOfCreationInMilliseconds) {
  HangBuilder first = dump(0).thread(1, waits_for_monitor()), second = dump(1).thread(1, waits_for_monitor());
  first.last().created = 133'000'000'000'001'234;
  second.last().created = 133'000'000'000'000'000;
  EXPECT_EQ(match({first, second}).size(), 1u);
}

TEST(MatchTest, ThreeDumpsSaySinceWhen) {
  const auto threads = match({dump(0).thread(1, runs_in("orders_native!a")).cpu(10),
                              dump(1).thread(1, waits_for_monitor()).cpu(20),
                              dump(2).thread(1, waits_for_monitor()).cpu(20)});
  EXPECT_EQ(threads[0].verdict, Verdict::stuck);
  EXPECT_EQ(threads[0].since, 1u);
  EXPECT_EQ(threads[0].milliseconds, kTenSeconds);
}

TEST(MatchTest, WhoWasStuckAndMovesAgainHasMoved) {
  EXPECT_EQ(verdict({dump(0).thread(1, waits_for_monitor()).cpu(20), dump(1).thread(1, waits_for_monitor()).cpu(20),
                     dump(2).thread(1, runs_in("orders_native!a")).cpu(30)}),
            Verdict::moved);
}

TEST(MatchTest, AThreadThatIsMissingInTheMiddleStartsAnew) {
  const auto threads = match({dump(0).thread(1, waits_for_monitor()), dump(1).thread(2, idle()),
                              dump(2).thread(1, waits_for_monitor())});
  EXPECT_EQ(threads[0].verdict, Verdict::returned);
}

TEST(MatchTest, ProcessesAreTheSameByIdAndPath) {
  std::vector<Snapshot> dumps = {dump(0).snapshot(), dump(1).snapshot(), dump(2).snapshot(), dump(3).snapshot()};
  dumps[1].process.id = 12;
  dumps[2].process.path = "c:\\ORDERS\\orders.exe";
  dumps[3].process.path = "c:\\other\\orders.exe";
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1, 0, 2}));
}

// The two dumps come from two machines of a fleet.
TEST(MatchTest, ProcessesWithoutAThreadInCommonAreNotTheSame) {
  constexpr std::uint64_t kBegan = 134'000'000'000'000'000;
  const auto process = [](int number, std::uint64_t began) {
    HangBuilder builder = dump(number);
    builder.thread(1, waits_for_event()).last().created = began;
    builder.thread(2, idle()).last().created = began + 50'000;
    return builder.snapshot();
  };
  std::vector<Snapshot> dumps = {process(0, kBegan), process(1, kBegan + 70'000'000), process(2, kBegan),
                                 process(3, kBegan + 70'000'000)};
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1, 0, 1}));
  // One of the two threads has ended, and its id was given to a new thread.
  dumps[2].threads[0].created += 90'000'000;
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1, 0, 1}));
  // It is not known when the threads began.
  for (Thread& thread : dumps[1].threads) thread.created = 0;
  EXPECT_EQ(same_processes(std::span(dumps).first(2)), (std::vector<std::uint32_t>{0, 0}));
}

TEST(MatchTest, DumpsOfDifferentThreadsMayBeOfOneProcess) {
  std::vector<Snapshot> dumps;
  for (const std::uint32_t id : {1, 2}) {
    HangBuilder builder = dump(static_cast<int>(id));
    builder.thread(id, waits_for_event()).last().created = 134'000'000'000'000'000;
    dumps.push_back(builder.snapshot());
  }
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1}));
  dumps[1].omissions.threads = true;
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 0}));
  // A thread of one dump has the id of another thread in the other dump.
  dumps[0].threads.push_back(dumps[1].threads[0]);
  dumps[0].threads.back().created += 90'000'000;
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1}));
}

// In the course of time all threads may be replaced.
TEST(MatchTest, AProcessIsKnownByItsLatestDump) {
  std::vector<Snapshot> dumps;
  for (std::uint32_t i = 0; i < 3; ++i) {
    HangBuilder builder = dump(static_cast<int>(i));
    builder.thread(10 + i, idle()).last().created = 1'000'000'000 * (i + 1);
    builder.thread(11 + i, idle()).last().created = 1'000'000'000 * (i + 2);
    dumps.push_back(builder.snapshot());
  }
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(MatchTest, ProcessesOfUnknownIdAreNeverTheSame) {
  std::vector<Snapshot> dumps = {dump(0).snapshot(), dump(1).snapshot()};
  for (Snapshot& of : dumps) of.process.id = 0;
  EXPECT_EQ(same_processes(dumps), (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace mixwalk
