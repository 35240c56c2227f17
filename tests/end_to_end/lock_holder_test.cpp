// One thread of the target holds one lock of the process nearly all of the time, and is walked meanwhile
// (fixtures/locks). It is walked by mixwalk.dll, which the lock must not block, and by a DLL that does what is
// forbidden while a thread is frozen, and hangs until the supervisor ends the freeze.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/freeze_trap_page.h"
#include "tests/support/win/suspend_counts.h"
#include "unmanaged/win/thread_information.h"
#include "walker/base/exit_code.h"
#include "walker/model/counters.h"

namespace mixwalk {
namespace {

// A request has a cost of its own, so each request asks for several walks of each of the two threads.
constexpr int kWalksPerRequest = 10;
// The number of requests with the product: 200 walks of each thread, and more until the holder was met with its lock
// often enough. (The sampler takes some locks itself before it freezes anything, so afterwards it often comes just when
// they are free.)
constexpr int kRequests = 20;
constexpr int kMetWithItsLock = 5;
// The number of requests for another run with the trap in the DLL.
constexpr int kTimedRequests = 3;
constexpr int kAtOnceRequests = 10;
// The number of requests per visit under sabotage with the product's deadline. There are several visits, until enough
// freezes were ended. (One visit ends few freezes, because the circuit breaker ends the walks of such a thread.)
constexpr int kRequestsPerVisit = 2;
constexpr std::uint64_t kEnded = 4;
// A deadline that is long enough to see that the freeze hangs. It is tried until it is seen once.
constexpr std::uint32_t kLongDeadlineMs = 1'000;
constexpr int kLongWalksPerRequest = 2;
// The limit for requests in every case.
constexpr int kMaxRequests = 500;

// A freeze may last for its deadline, plus these times: four steps of the supervisor (it looks every 10 ms, and frees a
// DoStackSnapshot that waits three looks later), a time slice (15.6 ms on Windows) until the supervisor gets a
// processor, and another one until the frozen thread gets one.
constexpr std::uint64_t kSupervisorStepMs = 10;
constexpr std::uint64_t kSliceMs = 16;
constexpr std::uint64_t kLimitNs =
    (kDefaultDeadlineMs + 4 * kSupervisorStepMs + 2 * kSliceMs) * 1'000'000;

// Measures how late this machine wakes a sleeping thread, during the life of this object. Its threads sleep as the
// supervisor does, and record the longest delay. A machine with more work than processors now and then delays every
// thread by several time slices, and so also the supervisor.
class Lateness {
 public:
  Lateness() {
    for (std::thread& thread : threads_) thread = std::thread([this] { watch(); });
  }
  ~Lateness() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Lateness(const Lateness&) = delete;
  Lateness& operator=(const Lateness&) = delete;

  // `freezes` is the number of freezes that came near the limit; `late` of them were longer. On a machine without
  // delays none may be late. On other machines few may be late, and by no more than the machine's own delay.
  void expect_in_time(std::uint64_t longest_ns, std::uint64_t late, std::uint64_t freezes) const {
    expect_within(kLimitNs, longest_ns);
    EXPECT_LE(late * 4, freezes);
  }
  // On a machine with delays the limit is longer by twice the machine's own delay.
  void expect_within(std::uint64_t limit_ns, std::uint64_t longest_ns) const {
    constexpr std::uint64_t kSliceNs = kSliceMs * 1'000'000;
    EXPECT_LE(longest_ns, limit_ns + 2 * (std::max<std::uint64_t>(worst_ns_, kSliceNs) - kSliceNs));
  }

 private:
  void watch() {
    using namespace std::chrono;
    constexpr milliseconds kStep(kSupervisorStepMs);
    while (!stop_) {
      const auto begin = steady_clock::now();
      std::this_thread::sleep_for(kStep);
      const auto late = static_cast<std::uint64_t>(
          nanoseconds(steady_clock::now() - begin - kStep).count());
      std::uint64_t worst = worst_ns_;
      while (late > worst && !worst_ns_.compare_exchange_weak(worst, late)) {
      }
    }
  }

  std::array<std::thread, 2> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> worst_ns_{0};
};

struct Case {
  const char* lock;
  Sabotage sabotage;   // the forbidden action that waits for this lock
  bool native = true;  // while the holder has the lock, its code is in lock_holder.dll
};

// Runs fixtures/locks with one lock, and discards its output.
class LockProgram {
 public:
  // `more`: further options of the program.
  explicit LockProgram(const char* lock, const std::vector<std::string>& more = {}) : program_(command(lock, more)) {
    std::istringstream line(program_.read_line().value_or(""));
    std::string ready;
    std::uint32_t id = 0;
    line >> ready >> id >> holder_ >> parked_;
    if (ready != "READY" || parked_ == 0) throw std::runtime_error("locks.exe did not start");
    reader_ = std::thread([this] { rest_ = program_.read_rest(); });
  }
  ~LockProgram() {
    program_.terminate();
    if (reader_.joinable()) reader_.join();
  }

  std::uint32_t id() const { return program_.id(); }
  std::uint32_t holder() const { return holder_; }
  std::uint32_t parked() const { return parked_; }
  // Asks for this many walks of both threads, in turn.
  DumpRequest request(int walks, std::uint32_t deadline_ms) const {
    DumpRequest request{.deadline_ms = deadline_ms};
    for (int i = 0; i < walks; ++i) {
      request.thread_ids.insert(request.thread_ids.end(), {holder_, parked_});
    }
    return request;
  }
  bool stop() {
    program_.write_line("STOP");
    return program_.wait(20'000) == 0u;
  }
  // Stops the program, and returns for how long its holder stood still at most, as the holder measured it itself.
  std::uint64_t stop_and_longest_us() {
    EXPECT_TRUE(stop());
    reader_.join();
    std::istringstream line(rest_);
    std::string longest;
    std::uint64_t us = 0;
    line >> longest >> us;
    EXPECT_EQ(longest, "LONGEST") << rest_;
    return us;
  }

 private:
  static std::vector<std::string> command(const char* lock, const std::vector<std::string>& more) {
    std::vector<std::string> line = {fixture("locks.exe"), "--lock", lock};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  ChildProcess program_;
  std::thread reader_;
  std::string rest_;
  std::uint32_t holder_ = 0, parked_ = 0;
};

bool has_frame(const Thread& thread, std::string_view name) {
  return std::any_of(thread.stack.frames.begin(), thread.stack.frames.end(),
                     [&](const Frame& frame) { return frame.name == name; });
}

bool has_managed_frame(const Thread& thread) {
  return std::any_of(thread.stack.frames.begin(), thread.stack.frames.end(),
                     [](const Frame& frame) { return frame.kind == FrameKind::managed; });
}

// The thread was stopped in the few instructions of Wine's own dispatcher of system calls that still run on the
// thread's stack. These are code of no image, called by a stub of ntdll.dll that has no unwind data. This happens about
// once in 1,000 freezes of a thread that makes system calls all the time; Windows has no such code. mixwalk does not
// guess there: the caller is either the caller of a stub, or is not shown.
bool is_in_wines_dispatcher(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  if (frames.size() < 2 || frames.size() > 3) return false;
  const bool called_by_stub = frames.size() == 2 || frames[1].name.starts_with("Nt");
  return frames.front().kind == FrameKind::native && frames.front().module == Frame::kNone &&
         called_by_stub && frames.back().kind == FrameKind::gap;
}

struct Walks {
  CountersBuilder counters;
  int holding = 0;         // walks of the holder that found it with its lock
  // The longest time for which a thread was frozen. Freezes that the supervisor ended are not included: the DLL
  // measures until its sampler has returned; only the trap can see how long those threads were really frozen.
  std::uint64_t longest_ns = 0;
  std::uint64_t went = 0;  // had code on its stack that was unloaded during every look: column "gone"
  std::uint64_t late = 0;  // was frozen for longer than the limit, or ran again before it was copied
  std::uint64_t top_only = 0;  // have a gap right below their first frames, and say so
};

// Expects that each thread is a managed one. If it is in a leaf function whose caller is not proven, its stack has a
// gap there and says so. This happens in one of some thousand walks of a thread that compiles all the time (in a
// function of coreclr.dll that has no unwind data and is reached by conditional jumps).
void look_for_frames(const Snapshot& snapshot, const Thread& thread, Walks& walks) {
  if (has_managed_frame(thread) || is_in_wines_dispatcher(thread)) return;
  ++walks.top_only;
  EXPECT_FALSE(thread.stack.whole()) << to_text(snapshot, thread);
  std::printf("%s", to_text(snapshot, thread).c_str());
}

// Makes requests, each of which must be answered with all the stacks.
void walk(TargetSession& session, const LockProgram& program, int times, std::uint32_t deadline_ms,
          Walks& walks) {
  const Snapshot snapshot = dump_named(session, program.request(times, deadline_ms));
  ASSERT_EQ(snapshot.threads.size(), 2u * static_cast<std::size_t>(times));
  for (const Thread& thread : snapshot.threads) {
    walks.counters.add(thread);
    if (thread.skipped == "the thread ran again before its stack was copied") {
      ++walks.late;
      continue;
    }
    // This happens to a thread that runs nothing but new code, while the runtime unloads hundreds of assemblies.
    if (thread.skipped == "code on its stack went away while it was looked at") {
      ++walks.went;
      continue;
    }
    EXPECT_EQ(thread.skipped, "");
    look_for_frames(snapshot, thread, walks);
    if (!thread.overdue) {
      walks.longest_ns = std::max(walks.longest_ns, thread.frozen_ns);
      walks.late += thread.frozen_ns > kLimitNs;
    }
    walks.holding +=
        has_frame(thread, "lock_holder_keep") || has_frame(thread, "lock_holder_console");
  }
}

// Prints one row: frozen times in microseconds, as the DLL reports them, and the longest time for which a thread was
// really frozen, which only the trap can see.
void print(const char* lock, const char* dll, Walks& walks, const FreezeTrapRecord* record) {
  const Counters counters = walks.counters.finish({});
  const std::string longest = record ? std::to_string(record->longest_ns / 1000) : "";
  const std::uint64_t ended = record ? record->ended_by_another.load() : counters.interventions;
  std::printf("| %-14s | %-17s | %5llu | %7d | %5llu | %7llu | %7llu | %7s | %5llu | "
              "%6llu of %4llu | %10llu | %9llu | %4llu |\n",
              lock, dll, counters.samples, walks.holding, counters.frozen.p50_ns / 1000,
              counters.frozen.p99_ns / 1000, counters.frozen.max_ns / 1000, longest.c_str(), ended,
              counters.probes_failed, counters.probes_run, counters.fallbacks,
              counters.samples - counters.whole, walks.went);
  std::fflush(stdout);
}

class LockHolder : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    std::puts("| lock           | DLL, deadline     | walks | holding |   p50 |     p99 |     max "
              "|   stood | ended | probes failed | fall-backs | not whole | gone |");
  }
};

// A thread that runs nothing but new code is captured again until the runtime unloads none of that code. None of 7,199
// walks was lost, nor of 1,080 with the trap, on a busy machine. (Under sabotage each capture costs a whole deadline,
// and there are only three captures.)
void expect_code_stays(const Walks& walks) {
  EXPECT_LE(walks.went, 2u);
  EXPECT_LE(walks.top_only, 2u);
}

TEST_P(LockHolder, Product) {
  LockProgram program(GetParam().lock);
  TargetSession session = attach_to(program.id());
  const Lateness lateness;
  Walks walks;
  const int met = GetParam().native ? kMetWithItsLock : 0;
  for (int i = 0; i < kRequests || (walks.holding < met && i < kMaxRequests); ++i) {
    walk(session, program, kWalksPerRequest, kDefaultDeadlineMs, walks);
  }
  print(GetParam().lock, "product, 50 ms", walks, nullptr);
  lateness.expect_in_time(walks.longest_ns, walks.late, kRequests);
  expect_code_stays(walks);
  EXPECT_GE(walks.holding, met) << "then this shows nothing";
  EXPECT_EQ(session.leave(), "");
  EXPECT_TRUE(program.stop());
}

// All threads of the program are frozen together: the holder with its lock, and the threads that wait for the lock.
TEST_P(LockHolder, AtOnce) {
  LockProgram program(GetParam().lock);
  TargetSession session = attach_to(program.id());
  Walks walks;
  std::size_t in_first_moment = 0;
  for (int i = 0; i < kAtOnceRequests; ++i) {
    const Snapshot snapshot = dump_named(
        session, {.engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true});
    ASSERT_GE(snapshot.moments.size(), 1u);
    for (const std::uint32_t id : {program.holder(), program.parked()}) {
      const Thread& thread = thread_of(snapshot, id);
      walks.counters.add(thread);
      walks.went += thread.skipped == "code on its stack went away while it was looked at";
      if (!thread.skipped.empty()) continue;
      in_first_moment += thread.moment == 1;
      look_for_frames(snapshot, thread, walks);
      walks.holding +=
          has_frame(thread, "lock_holder_keep") || has_frame(thread, "lock_holder_console");
    }
  }
  print(GetParam().lock, "at once, 500 ms", walks, nullptr);
  expect_code_stays(walks);
  EXPECT_GT(in_first_moment, static_cast<std::size_t>(kAtOnceRequests));
  EXPECT_EQ(session.leave(), "");
  EXPECT_TRUE(program.stop());
}

// Runs the same code with the trap in it, which sees how long a thread was really frozen.
TEST_P(LockHolder, ProductTimed) {
  LockProgram program(GetParam().lock);
  const FreezeTrapPage page(program.id());
  ASSERT_NE(page.get(), nullptr);
  page->limit_ns = kLimitNs;
  TargetSession session = attach_to(program.id(), "mixwalk_trapped.dll");
  const Lateness lateness;
  Walks walks;
  for (int i = 0; i < kTimedRequests; ++i) {
    walk(session, program, kWalksPerRequest, kDefaultDeadlineMs, walks);
  }
  print(GetParam().lock, "trapped, 50 ms", walks, page.get());
  EXPECT_GE(page->freezes.load(), 2u * kTimedRequests * kWalksPerRequest);
  lateness.expect_in_time(page->longest_ns, page->over_limit, kTimedRequests);
  expect_code_stays(walks);
  EXPECT_EQ(session.leave(), "");
  EXPECT_TRUE(program.stop());
}

TEST_P(LockHolder, Sabotaged) {
  LockProgram program(GetParam().lock);
  const FreezeTrapPage page(program.id());
  ASSERT_NE(page.get(), nullptr);
  page->sabotage = GetParam().sabotage;
  Walks until_hang;
  {
    TargetSession session = attach_to(program.id(), "mixwalk_trapped.dll");
    for (int i = 0; i < kMaxRequests && page->ended_by_another == 0; ++i) {
      walk(session, program, kLongWalksPerRequest, kLongDeadlineMs, until_hang);
    }
    EXPECT_EQ(session.leave(), "");
  }
  print(GetParam().lock, "sabotaged, 1 s", until_hang, page.get());
  // The supervisor's clock advances only once per time slice.
  EXPECT_GE(page->longest_ns.load(), (kLongDeadlineMs - kSliceMs) * 1'000'000) << "it never hung";

  const Lateness lateness;
  Walks walks;
  page->longest_ns = 0;
  page->ended_by_another = 0;
  page->limit_ns = kLimitNs;
  page->over_limit = 0;
  for (int i = 0; i < kMaxRequests && page->ended_by_another < kEnded; i += kRequestsPerVisit) {
    TargetSession session = attach_to(program.id(), "mixwalk_trapped.dll");
    for (int j = 0; j < kRequestsPerVisit; ++j) {
      walk(session, program, kWalksPerRequest, kDefaultDeadlineMs, walks);
    }
    EXPECT_EQ(session.leave(), "");
  }
  print(GetParam().lock, "sabotaged, 50 ms", walks, page.get());
  EXPECT_GE(page->ended_by_another.load(), kEnded);
  lateness.expect_in_time(page->longest_ns, page->over_limit, page->ended_by_another);
  EXPECT_TRUE(program.stop());
}

// Software in the program has patched system calls of freezes and of the supervisor, and its code waits for the lock
// that the holder has. So only mixwalk.exe can end a freeze.
void expect_short_stands(const DumpRequest& request_of_each, int requests, int min_given_back,
                         const std::string& patches = "--patched") {
  constexpr std::uint64_t kMarginMs = 150, kLookMs = 20, kHeldMs = 5;
  LockProgram program("heap", {patches});
  TargetSession session = attach_to(program.id());
  const Lateness lateness;
  DumpRequest request = request_of_each;
  if (!request.at_once) request.thread_ids = program.request(kWalksPerRequest, request.deadline_ms).thread_ids;
  for (int i = 0; i < requests || (session.given_back() < min_given_back && i < kMaxRequests); ++i) {
    const auto snapshot = session.dump(request);
    ASSERT_TRUE(snapshot) << snapshot.failure().message;
  }
  const int given_back = session.given_back();
  EXPECT_GE(given_back, min_given_back) << "then this shows nothing";
  EXPECT_EQ(session.leave(), "");
  const std::uint64_t longest_us = program.stop_and_longest_us();
  std::printf("%d suspensions undone by mixwalk.exe; the holder stood for at most %llu us\n", given_back, longest_us);
  lateness.expect_within((request.deadline_ms + kMarginMs + kLookMs + kHeldMs + 2 * kSliceMs) * 1'000'000,
                         longest_us * 1'000);
}

// 60 freezes or more, until 40 of them were undone. Each of these takes the deadline and the margin.
TEST(PatchedCalls, NoThreadStandsLongerThanTheShortMargin) { expect_short_stands({}, 3, 40); }

// The agent waits behind its SuspendThread, and the ledger does not say yet whether the thread is suspended. Each of
// the 60 freezes is undone once or twice.
TEST(PatchedCalls, NoThreadStandsLongerIfThePatchWaitsBehindTheSuspension) {
  expect_short_stands({}, 3, 5, "--patched-suspension");
}

TEST(PatchedCalls, NoGroupStandsLongerThanTheShortMargin) {
  expect_short_stands({.engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true}, 3, 1);
}

TEST(PatchedCalls, AreNamedByDoctor) {
  LockProgram program("heap", {"--patched"});
  const ProgramResult result =
      run_program({mixwalk_exe(), "doctor", "-p", std::to_string(program.id()), "--no-trial"});
  EXPECT_THAT(result.out, testing::ContainsRegex("note  system calls .*NtGetContextThread, NtResumeThread and "
                                                 "NtQueryVirtualMemory lead to .*patched_calls.dll"));
  EXPECT_TRUE(program.stop());
}

// The trial ends at the first thread that stood still.
TEST(PatchedCalls, EndTheTrialOfDoctor) {
  LockProgram program("heap", {"--patched"});
  ProgramResult result;
  // Most of the time the agent itself waits for the lock before it freezes the holder, so the lock is then free.
  constexpr int kMaxTrials = 20;
  for (int i = 0; i < kMaxTrials && result.out.find("mixwalk.exe resumed it") == std::string::npos; ++i) {
    result = run_until_let_in({"doctor", "-p", std::to_string(program.id())});
    EXPECT_EQ(result.exit_code, 0u) << result.err;
  }
  EXPECT_THAT(result.out, testing::HasSubstr("a thread stood still for at least 200 ms until mixwalk.exe resumed it"));
  EXPECT_TRUE(program.stop());
}

TEST(PatchedCalls, ADumpReadsTheProcessFromOutside) {
  LockProgram program("heap", {"--patched"});
  const std::string id = std::to_string(program.id());
  const ProgramResult dump = run_program({mixwalk_exe(), "dump", "-p", id});
  EXPECT_EQ(dump.exit_code, 0u) << dump.err;
  EXPECT_THAT(dump.out,
              testing::HasSubstr("(other software has patched system calls of the process: NtGetContextThread"));
  const ProgramResult inside = run_program({mixwalk_exe(), "dump", "-p", id, "--inside", "-v"});
  EXPECT_EQ(inside.exit_code, 0u) << inside.err;
  EXPECT_THAT(inside.err, testing::ContainsRegex("NtResumeThread.*patched_calls.dll"));
  EXPECT_TRUE(program.stop());
}

TEST(PatchedCalls, ARecordingEndsWhenThreadsStandStill) {
  LockProgram program("heap", {"--patched"});
  const std::string file = temporary_file("patched.mixwalk");
  const ProgramResult record =
      run_program({mixwalk_exe(), "record", "-p", std::to_string(program.id()), "-d", "50s", "-o", file});
  EXPECT_EQ(record.exit_code, static_cast<DWORD>(ExitCode::refused)) << record.err;
  EXPECT_THAT(record.err, testing::ContainsRegex("the recording ends here: .*NtResumeThread"));
  EXPECT_TRUE(program.stop());
}

// With the budget, such a recording has so few samples that it ends by its time, before the third stand.
TEST(PatchedCalls, ARecordingSaysThatThreadsStoodStill) {
  LockProgram program("heap", {"--patched-suspension"});
  const std::string file = temporary_file("patched.mixwalk");
  const ProgramResult record =
      run_program({mixwalk_exe(), "record", "-p", std::to_string(program.id()), "-d", "8s", "-o", file});
  EXPECT_THAT(record.err, testing::ContainsRegex("stood still until mixwalk.exe resumed it.*NtSuspendThread leads to"));
  EXPECT_TRUE(program.stop());
}

// Waits until the thread has stood still for longer than its supervisor lets it. Returns false if the recorder ended
// before.
bool stands_too_long(std::uint32_t thread_id, const ChildProcess& recorder) {
  const UniqueHandle thread(OpenThread(THREAD_QUERY_INFORMATION, FALSE, thread_id));
  ULONGLONG since = GetTickCount64();
  while (recorder.running()) {
    const ULONGLONG now = GetTickCount64();
    if (suspend_count(thread.get()).value_or(0) == 0) since = now;
    if (now - since > kDefaultDeadlineMs + kSupervisorStepMs) return true;
    Sleep(1);
  }
  return false;
}

TEST(PatchedCalls, ThatRefuseRegistersAreNoReasonToCallAThreadEnding) {
  LockProgram program("heap", {"--refused-registers"});
  const std::string id = std::to_string(program.id());
  for (const std::string way : {"--engine=copy", "--at-once"}) {
    const ProgramResult dump = run_until_let_in({"dump", "-p", id, way});
    EXPECT_EQ(dump.exit_code, 0u) << dump.err;
    EXPECT_THAT(dump.out, testing::HasSubstr("skipped: the system refused its registers (error 5)"));
    EXPECT_THAT(dump.out, testing::Not(testing::HasSubstr("ending")));
    EXPECT_THAT(dump.out, testing::Not(testing::HasSubstr("of 0 threads")));
  }
  EXPECT_TRUE(program.stop());
}

TEST(PatchedCalls, ThatRefuseRegistersEndARecording) {
  LockProgram program("heap", {"--refused-registers"});
  for (const char* duration : {"500ms", "100s"}) {
    const ProgramResult record = run_until_let_in(
        {"record", "-p", std::to_string(program.id()), "-d", duration, "-o", temporary_file("refused.mixwalk")});
    EXPECT_EQ(record.exit_code, static_cast<DWORD>(ExitCode::refused)) << record.err;
    EXPECT_THAT(record.err, testing::HasSubstr("the system refused the registers of its threads (error 5)"));
  }
  EXPECT_TRUE(program.stop());
}

// Only mixwalk.exe can end a freeze of this program. Its watcher does so when mixwalk.exe has been ended.
TEST(PatchedCalls, ARecordingThatIsKilledLeavesNoThreadSuspended) {
  constexpr int kKills = 3, kMaxRecordings = 30;
  LockProgram program("heap", {"--patched"});
  const std::string file = temporary_file("patched.mixwalk");
  int killed = 0;
  for (int i = 0; i < kMaxRecordings && killed < kKills; ++i) {
    ChildProcess recorder({mixwalk_exe(), "record", "-p", std::to_string(program.id()), "-d", "50s", "-o", file});
    if (!stands_too_long(program.holder(), recorder)) continue;
    recorder.terminate();
    ++killed;
    ASSERT_TRUE(all_run_within(program.id(), 10'000)) << "recording " << i;
  }
  EXPECT_EQ(killed, kKills) << "then this shows nothing";
  EXPECT_TRUE(program.stop());
}

INSTANTIATE_TEST_SUITE_P(Locks, LockHolder,
                         testing::Values(Case{"heap", Sabotage::heap},
                                         Case{"loader", Sabotage::loader},
                                         Case{"function-table", Sabotage::function_table},
                                         Case{"crt", Sabotage::crt},
                                         Case{"console", Sabotage::crt},
                                         // Jitting takes many locks, and holds each for microseconds: the heap or the
                                         // function tables were found locked in 1 walk of 50. But collectible code
                                         // causes collections, and while the runtime waits for a frozen thread, it
                                         // holds the thread store's lock.
                                         Case{"jit", Sabotage::thread_store, false},
                                         Case{"suspension", Sabotage::thread_store, false}),
                         [](const auto& info) {
                           std::string name = info.param.lock;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace mixwalk
