// The supervisor with real threads. SupervisorTest has no supervising thread: the test makes each look.

#include "walker/suspended/win/supervisor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "tests/support/win/coarse_clock.h"
#include "tests/walker/suspended/win/resume_hook.h"
#include "walker/base/win/precise_wait.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {
namespace {

constexpr DWORD kDeadlineMs = 50;
// Longer than DoStackSnapshot may take to begin, and how often the supervisor looks at least in that time.
constexpr DWORD kForEverMs = 10'000, kPeriodMs = 10;

// The supervisor's answer at the moment at which it resumes, and at which it ends a freeze.
Supervisor* g_supervisor = nullptr;
bool g_overdue_before_resume = false;
std::uint64_t g_last_frozen_before_resume = 0;
std::uint64_t g_last_wait_ends_ns = 0;  // CoarseClock, of the supervisor before it resumes

DWORD WINAPI watched_resume(HANDLE thread) {
  g_last_wait_ends_ns = CoarseClock::last_wait_ends_ns();
  note_resume();
  g_overdue_before_resume = g_supervisor->overdue();
  g_last_frozen_before_resume = g_supervisor->last_frozen_ticks();
  return ResumeThread(thread);
}

std::uint64_t ticks() {
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  return static_cast<std::uint64_t>(now.QuadPart);
}

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() : supervisor_(ledger_, kDeadlineMs, &watched_resume) {
    g_supervisor = &supervisor_;
    forget_resumes();
    stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    runs_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    thread_ = UniqueHandle(CreateThread(nullptr, 0, &wait, this, 0, &id_));
    WaitForSingleObject(runs_.get(), INFINITE);
  }
  ~SupervisorTest() override {
    EXPECT_EQ(suspensions(), 0u);
    SetEvent(stop_.get());
    WaitForSingleObject(thread_.get(), INFINITE);
  }

  static DWORD WINAPI wait(void* test) {
    SetEvent(static_cast<SupervisorTest*>(test)->runs_.get());
    return WaitForSingleObject(static_cast<SupervisorTest*>(test)->stop_.get(), INFINITE);
  }

  void freeze() {
    // On a busy machine this program may have had no processor for seconds, and nothing is frozen while the supervisor
    // seems to be stopped.
    supervisor_.look(TickClock().now_ns());
    ASSERT_TRUE(supervisor_.before_suspend(id_));
    ASSERT_EQ(SuspendThread(thread_.get()), 0u);
    ASSERT_TRUE(supervisor_.begin(thread_.get(), 0));
  }
  // Looks as the supervising thread does, this long after the freeze began.
  void look_after(DWORD milliseconds) {
    supervisor_.look(TickClock().now_ns() + std::uint64_t{milliseconds} * 1'000'000);
  }
  void look_for_ever() {
    for (DWORD milliseconds = kDeadlineMs; milliseconds <= kForEverMs; milliseconds += kPeriodMs) {
      look_after(milliseconds);
    }
  }
  // Looks as often as the supervisor needs to believe that a suspension is that of DoStackSnapshot.
  void look_steadily() {
    look_steadily_but_once();
    look_after(kDeadlineMs);
  }
  void look_steadily_but_once() {
    for (int i = 0; i < 2; ++i) look_after(kDeadlineMs);
  }
  // DoStackSnapshot is called, suspends the thread, and has not returned at the deadline.
  void walk_beyond_the_deadline() {
    freeze();
    ASSERT_TRUE(supervisor_.begin_walk());
    SuspendThread(thread_.get());  // DoStackSnapshot's suspension
    look_steadily();
  }

  // Returns how often the thread is suspended.
  DWORD suspensions() {
    const DWORD before = SuspendThread(thread_.get());
    ResumeThread(thread_.get());
    return before;
  }

  // Writes the state as mixwalk.exe does.
  void write(FreezeState state) {
    ledger_.slots[0] = LedgerEntry::of(ledger_.slots[0]).with(state).word();
  }
  FreezeState written() { return LedgerEntry::of(ledger_.slots[0]).state; }
  // mixwalk.exe calls ResumeThread this long after it has taken the suspension.
  std::thread mixwalk_exe_resumes() {
    return std::thread([this] {
      Sleep(kDeadlineMs);
      const DWORD before = ResumeThread(thread_.get());
      write(before != 0 ? FreezeState::given_back : FreezeState::not_suspended);
    });
  }

  LedgerPage ledger_{};
  Supervisor supervisor_;
  UniqueHandle stop_, runs_, thread_;
  DWORD id_ = 0;
};

TEST_F(SupervisorTest, AFreezeInTimeIsEndedByItsOwner) {
  freeze();
  look_after(0);
  EXPECT_FALSE(supervisor_.overdue());
  EXPECT_EQ(g_resumes, 0);
  EXPECT_EQ(suspensions(), 1u);
  supervisor_.end();
  EXPECT_EQ(suspensions(), 0u);
}

TEST_F(SupervisorTest, AnOverdueThreadIsLetGoOnce) {
  freeze();
  look_after(kDeadlineMs);
  EXPECT_TRUE(supervisor_.overdue());
  EXPECT_EQ(suspensions(), 0u);
  look_for_ever();
  supervisor_.end();
  EXPECT_EQ(g_resumes, 1);
  EXPECT_FALSE(supervisor_.overdue());
}

// After mixwalk.exe has given our suspension back, the program makes its own.
TEST_F(SupervisorTest, SuspendedByTheProgramAfterItWasGivenBack) {
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);
  ASSERT_EQ(ResumeThread(thread_.get()), 1u);
  write(FreezeState::given_back);
  SuspendThread(thread_.get());  // the program's suspension
  EXPECT_FALSE(supervisor_.begin(thread_.get(), 0));
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

TEST_F(SupervisorTest, GivenBackAfterItHadHappened) {
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);  // the program's suspension
  const DWORD before = SuspendThread(thread_.get());
  ASSERT_EQ(ResumeThread(thread_.get()), 2u);
  write(FreezeState::given_back);
  EXPECT_FALSE(supervisor_.begin(thread_.get(), before));
  EXPECT_EQ(suspensions(), 1u);
  ResumeThread(thread_.get());
}

// Either mixwalk.exe was killed while it took the suspension, or mixwalk.exe is about to report that it found the
// thread running.
TEST_F(SupervisorTest, BeingTakenBeforeItHadHappened) {
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  write(FreezeState::taking);
  const DWORD before = SuspendThread(thread_.get());
  EXPECT_FALSE(supervisor_.begin(thread_.get(), before));
  EXPECT_EQ(suspensions(), 0u);
}

// A walk that asks must never be told that the thread is frozen while it runs. frozen_ns is the time from a moment
// before begin() to last_frozen_ticks().
TEST_F(SupervisorTest, OverdueIsSaidAndTimedBeforeTheThreadRuns) {
  const std::uint64_t began = ticks();
  freeze();
  look_after(kDeadlineMs);
  EXPECT_TRUE(g_overdue_before_resume);
  EXPECT_GE(g_last_frozen_before_resume, began);
  EXPECT_EQ(supervisor_.last_frozen_ticks(), g_last_frozen_before_resume);
  supervisor_.end();
}

TEST_F(SupervisorTest, SuspensionsOfOthersAreLeftToThem) {
  freeze();
  SuspendThread(thread_.get());  // the program's own suspension
  look_after(kDeadlineMs);
  EXPECT_TRUE(supervisor_.overdue());
  EXPECT_EQ(suspensions(), 1u);
  supervisor_.end();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

TEST_F(SupervisorTest, AWalkInTimeIsWhole) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  look_after(0);
  EXPECT_TRUE(supervisor_.walk_may_go_on());
  EXPECT_TRUE(supervisor_.end_walk());
  supervisor_.end();
}

TEST_F(SupervisorTest, NoWalkBeginsOverAThreadThatRuns) {
  freeze();
  look_after(kDeadlineMs);
  EXPECT_FALSE(supervisor_.begin_walk());
  supervisor_.end();
}

// If DoStackSnapshot still continues, it ends itself at its next frame, and resumes the thread.
TEST_F(SupervisorTest, AWalkThatGoesOnEndsItself) {
  walk_beyond_the_deadline();
  EXPECT_EQ(suspensions(), 1u);
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
  EXPECT_FALSE(supervisor_.end_walk());
  EXPECT_TRUE(supervisor_.overdue());
  supervisor_.end();
  EXPECT_EQ(g_resumes, 1);
}

// The program may suspend the thread at any of these moments; the thread must never run before the program resumes it.
TEST_F(SupervisorTest, AWalkThatEndsItselfLeavesTheProgramItsSuspension) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  SuspendThread(thread_.get());  // DoStackSnapshot's suspension
  SuspendThread(thread_.get());  // the program's suspension
  look_steadily();
  look_for_ever();
  EXPECT_EQ(suspensions(), 2u);
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 2u);  // DoStackSnapshot's resume
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

// If DoStackSnapshot waits for something that the thread holds, it never comes to its next frame.
TEST_F(SupervisorTest, AWalkThatWaitsIsFreed) {
  walk_beyond_the_deadline();
  look_steadily();
  EXPECT_EQ(suspensions(), 0u);
  // DoStackSnapshot gets what it waited for, and reports a frame. From then on it keeps the thread suspended again,
  // since it will resume the thread.
  SuspendThread(thread_.get());  // the program's suspension, meanwhile
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 2u);  // DoStackSnapshot's resume
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

// The CLR's GC suspends the thread for a moment, again and again, and DoStackSnapshot has not suspended the thread yet.
TEST_F(SupervisorTest, AMomentarySuspensionBeforeTheWalkIsNotThatOfDoStackSnapshot) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  for (int i = 0; i < 5; ++i) {
    SuspendThread(thread_.get());  // the GC's suspension
    look_steadily_but_once();
    EXPECT_EQ(ResumeThread(thread_.get()), 2u);
    look_after(kDeadlineMs);
    EXPECT_FALSE(supervisor_.overdue());
  }
  EXPECT_TRUE(supervisor_.end_walk());
  supervisor_.end();
}

// DoStackSnapshot has resumed the thread, and has not returned yet.
TEST_F(SupervisorTest, AMomentarySuspensionAfterTheWalkIsLeftToItsOwner) {
  walk_beyond_the_deadline();
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);  // DoStackSnapshot's resume
  for (int i = 0; i < 5; ++i) {
    SuspendThread(thread_.get());  // the GC's suspension
    look_steadily_but_once();
    EXPECT_EQ(ResumeThread(thread_.get()), 1u) << "the thread ran while the GC relied on its suspension";
    look_after(kDeadlineMs);
  }
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
  EXPECT_EQ(g_resumes, 1);
}

// A GC tries to suspend the thread while DoStackSnapshot waits for good.
TEST_F(SupervisorTest, AWalkThatWaitsIsFreedBetweenMomentarySuspensions) {
  walk_beyond_the_deadline();
  for (int i = 0; i < 5; ++i) {
    look_after(kDeadlineMs);
    SuspendThread(thread_.get());  // the GC's suspension
    look_after(kDeadlineMs);
    EXPECT_EQ(ResumeThread(thread_.get()), 2u);
  }
  look_for_ever();
  EXPECT_EQ(suspensions(), 0u);
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
}

// Between the call and its own suspension, DoStackSnapshot waits for nothing, and it would crash if the thread
// detached.
TEST_F(SupervisorTest, NotLetGoBetweenTheCallAndDoStackSnapshotsOwnSuspension) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  look_after(kDeadlineMs);
  EXPECT_FALSE(supervisor_.overdue());
  EXPECT_EQ(suspensions(), 1u);
  look_for_ever();
  EXPECT_TRUE(supervisor_.overdue());
  EXPECT_EQ(suspensions(), 0u);
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
}

// The clock alone says that DoStackSnapshot has had a second to suspend the thread: the machine stood still.
TEST_F(SupervisorTest, NotLetGoByAMachineThatStoodStill) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  look_after(0);
  look_after(kForEverMs);
  EXPECT_FALSE(supervisor_.overdue());
  EXPECT_EQ(suspensions(), 1u);
  EXPECT_TRUE(supervisor_.end_walk());
  supervisor_.end();
}

// The clock alone says the same while the GC suspends the thread for a moment.
TEST_F(SupervisorTest, AMomentarySuspensionIsLeftToItsOwnerByAMachineThatStoodStill) {
  walk_beyond_the_deadline();
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);  // DoStackSnapshot's resume
  SuspendThread(thread_.get());                // the GC's suspension
  look_after(kForEverMs);
  EXPECT_EQ(ResumeThread(thread_.get()), 1u) << "the thread ran while the GC relied on its suspension";
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
}

// mixwalk.exe takes the suspension before its ResumeThread. The next freeze waits for that ResumeThread, which would
// otherwise undo the next suspension.
TEST_F(SupervisorTest, MixwalkExeIsWaitedForWhenItTakesAFreezeThatBegins) {
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  write(FreezeState::taking);
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);
  std::thread mixwalk_exe = mixwalk_exe_resumes();
  EXPECT_FALSE(supervisor_.begin(thread_.get(), 0));
  EXPECT_EQ(written(), FreezeState::empty);
  EXPECT_EQ(suspensions(), 0u) << "the slot is free, so mixwalk.exe has resumed the thread";
  mixwalk_exe.join();
}

TEST_F(SupervisorTest, MixwalkExeThatResumesTooEarlyLeavesTheSuspensionToUs) {
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  write(FreezeState::taking);
  std::thread mixwalk_exe([this] {
    Sleep(kDeadlineMs);
    write(FreezeState::not_suspended);
  });
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);
  EXPECT_FALSE(supervisor_.begin(thread_.get(), 0));
  EXPECT_EQ(suspensions(), 0u);
  mixwalk_exe.join();
}

TEST_F(SupervisorTest, MixwalkExeIsWaitedForWhenItTakesAnOverdueFreeze) {
  freeze();
  write(FreezeState::taking);
  look_after(kDeadlineMs);  // leaves the ResumeThread to mixwalk.exe
  EXPECT_EQ(g_resumes, 0);
  std::thread mixwalk_exe = mixwalk_exe_resumes();
  supervisor_.end();
  EXPECT_EQ(suspensions(), 0u) << "mixwalk.exe has resumed the thread before the freeze ended";
  mixwalk_exe.join();
}

// mixwalk.exe may not open the thread, or dies before its ResumeThread.
TEST_F(SupervisorTest, ASuspensionThatMixwalkExeDidNotGiveBackIsGivenBackInside) {
  for (const FreezeState left : {FreezeState::not_suspended, FreezeState::taking}) {
    for (const DWORD after : {DWORD{0}, kDeadlineMs}) {
      freeze();
      write(left);
      look_after(after);
      supervisor_.end();
      EXPECT_EQ(suspensions(), 0u);
    }
  }
}

// mixwalk.exe has resumed the thread, and stands still before it says so.
TEST_F(SupervisorTest, ASuspensionThatMixwalkExeHasUndoneIsNotUndoneAgain) {
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);  // the program's suspension
  ASSERT_TRUE(supervisor_.before_suspend(id_));
  ASSERT_EQ(SuspendThread(thread_.get()), 1u);
  ASSERT_TRUE(supervisor_.begin(thread_.get(), 1));
  write(FreezeState::taking);
  ASSERT_EQ(ResumeThread(thread_.get()), 2u);
  supervisor_.end();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

// The ledger is kept up to date so that mixwalk.exe undoes only suspensions that are still ours.
TEST_F(SupervisorTest, TheLedgerSaysWhatIsLeftOfOurs) {
  freeze();
  look_after(kDeadlineMs);
  EXPECT_EQ(written(), FreezeState::resumed);
  supervisor_.end();

  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  EXPECT_EQ(written(), FreezeState::walked);
  SuspendThread(thread_.get());  // DoStackSnapshot's suspension
  look_steadily();
  EXPECT_EQ(written(), FreezeState::walk_holds);
  look_steadily();
  EXPECT_EQ(written(), FreezeState::resumed);
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(written(), FreezeState::walk_holds);
  ResumeThread(thread_.get());  // DoStackSnapshot's resume
  EXPECT_FALSE(supervisor_.end_walk());
  EXPECT_EQ(written(), FreezeState::resumed);
  supervisor_.end();
  EXPECT_EQ(written(), FreezeState::empty);
}

// DoStackSnapshot comes to a frame, and resumes the thread, after mixwalk.exe has undone both suspensions.
TEST_F(SupervisorTest, AWalkThatMixwalkExeLetGoLeavesTheProgramItsSuspension) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  write(FreezeState::walk_given_back);
  ResumeThread(thread_.get());
  SuspendThread(thread_.get());  // the program's suspension
  EXPECT_FALSE(supervisor_.walk_may_go_on());
  EXPECT_EQ(ResumeThread(thread_.get()), 2u);  // DoStackSnapshot's resume
  EXPECT_FALSE(supervisor_.end_walk());
  EXPECT_TRUE(supervisor_.overdue());
  supervisor_.end();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

// The supervisor is just about to undo the suspension of DoStackSnapshot.
TEST_F(SupervisorTest, AWalkThatComesToAFrameWaitsForTheSupervisor) {
  walk_beyond_the_deadline();
  std::thread walk;
  g_before_resume = [&] {
    walk = std::thread([this] { EXPECT_FALSE(supervisor_.walk_may_go_on()); });
    Sleep(kDeadlineMs);
  };
  look_steadily();
  walk.join();
  EXPECT_EQ(suspensions(), 1u) << "DoStackSnapshot will resume the thread once";
  ResumeThread(thread_.get());
  EXPECT_FALSE(supervisor_.end_walk());
  supervisor_.end();
}

// The program has stopped the supervisor for seconds, before its ResumeThread. The freeze must end without the
// supervisor, which later leaves the state unchanged.
TEST_F(SupervisorTest, ASupervisorThatWakesUpLateFindsTheFreezeEnded) {
  freeze();
  ASSERT_TRUE(supervisor_.begin_walk());
  SuspendThread(thread_.get());  // DoStackSnapshot's suspension
  g_before_resume = [this] {
    ResumeThread(thread_.get());           // DoStackSnapshot's resume
    EXPECT_FALSE(supervisor_.end_walk());  // after 2 s
    supervisor_.end();
    EXPECT_EQ(suspensions(), 0u);
  };
  look_steadily();
  EXPECT_FALSE(supervisor_.overdue());
  SuspendThread(thread_.get());  // the program's suspension
  look_for_ever();
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

TEST_F(SupervisorTest, AThreadSaysWhetherOthersSuspendedIt) {
  WindowsThread thread(supervisor_);
  ASSERT_TRUE(thread.open(id_));
  {
    const ScopedSuspension suspension(thread);
    EXPECT_FALSE(thread.suspended_by_others());
  }
  SuspendThread(thread_.get());  // the program's suspension
  {
    const ScopedSuspension suspension(thread);
    EXPECT_TRUE(thread.suspended_by_others());
    EXPECT_EQ(suspensions(), 2u);
  }
  EXPECT_EQ(ResumeThread(thread_.get()), 1u);
}

// The machine is so busy that the supervising thread gets no processor.
TEST_F(SupervisorTest, ALateSupervisorIsWaitedFor) {
  supervisor_.look(TickClock().now_ns() - std::uint64_t{kForEverMs} * 1'000'000);
  EXPECT_FALSE(supervisor_.before_suspend(id_));
  EXPECT_EQ(supervisor_.wait_while_silent(kDeadlineMs), Supervisor::Silence::late);
  std::thread supervising([this] {
    Sleep(kDeadlineMs);
    supervisor_.look(TickClock().now_ns());
  });
  EXPECT_EQ(supervisor_.wait_while_silent(INFINITE), Supervisor::Silence::none);
  supervising.join();
}

// The supervisor with its own thread.
//
// Folklore: a thread that has just been created holds the loader lock for a moment. Situation: the test suspends the
// sleeper in that moment and ends it at last, so nobody releases the lock. Real case: the supervisor's thread waited
// for the lock at its end, and the test waited for that thread, for ever (Wine 10, beside a busy program: 4 times in 49
// runs). Remedy: the sleeper is frozen only when it runs.
class SupervisorThreadTest : public ::testing::Test {
 protected:
  explicit SupervisorThreadTest(DWORD deadline_ms = kDeadlineMs)
      : supervisor_(ledger_, deadline_ms, &watched_resume), started_(supervisor_.start()) {
    g_supervisor = &supervisor_;
    forget_resumes();
    thread_ = UniqueHandle(OpenThread(THREAD_SUSPEND_RESUME | THREAD_TERMINATE, FALSE, supervisor_.thread_id()));
    runs_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    sleeper_ = UniqueHandle(CreateThread(nullptr, 0, &sleep, runs_.get(), 0, &sleeper_id_));
    WaitForSingleObject(runs_.get(), INFINITE);
  }
  ~SupervisorThreadTest() override { TerminateThread(sleeper_.get(), 0); }

  static DWORD WINAPI sleep(void* runs) {
    SetEvent(runs);
    Sleep(INFINITE);
    return 0;
  }
  // Freezes the sleeper, which the program has suspended `before` times.
  void freeze(DWORD before = 0) {
    ASSERT_TRUE(supervisor_.before_suspend(sleeper_id_));
    ASSERT_EQ(SuspendThread(sleeper_.get()), before);
    ASSERT_TRUE(supervisor_.begin(sleeper_.get(), before));
  }
  DWORD suspensions() {
    const DWORD before = SuspendThread(sleeper_.get());
    ResumeThread(sleeper_.get());
    return before;
  }
  void wait_for_silence() {
    while (!supervisor_.is_silent()) Sleep(10);
  }

  LedgerPage ledger_{};
  Supervisor supervisor_;
  bool started_;
  UniqueHandle thread_, runs_, sleeper_;
  DWORD sleeper_id_ = 0;
};

// The supervisor is on its way back from ResumeThread, gets no processor for seconds, and the program suspends the
// thread meanwhile.
TEST_F(SupervisorThreadTest, ALateSupervisorIsLeftToItsWork) {
  ASSERT_TRUE(started_);
  UniqueHandle resumed(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  g_before_resume = [&] {
    ResumeThread(sleeper_.get());
    SuspendThread(sleeper_.get());  // the program's suspension
    SuspendThread(sleeper_.get());  // for the ResumeThread that the supervisor calls afterwards
    SetEvent(resumed.get());
    Sleep(3'000);
  };
  freeze();
  ASSERT_EQ(WaitForSingleObject(resumed.get(), 10'000), WAIT_OBJECT_0);
  supervisor_.end();
  EXPECT_EQ(suspensions(), 1u) << "the program's suspension was undone";
  EXPECT_EQ(g_resumes, 1);
}

// The program stops the supervisor on its way back from ResumeThread, or before that call. The thread has another
// suspension of the program's.
TEST_F(SupervisorThreadTest, AStoppedSupervisorIsReplacedIfItsResumeIsMissing) {
  ASSERT_TRUE(started_);
  for (const bool has_resumed : {true, false}) {
    SuspendThread(sleeper_.get());  // the program's suspension
    UniqueHandle reached(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    UniqueHandle go_on(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    g_before_resume = [&] {
      if (has_resumed) ResumeThread(sleeper_.get());
      SetEvent(reached.get());
      WaitForSingleObject(go_on.get(), INFINITE);
      SuspendThread(sleeper_.get());  // for the ResumeThread that the supervisor calls afterwards
    };
    freeze(1);
    ASSERT_EQ(WaitForSingleObject(reached.get(), 10'000), WAIT_OBJECT_0);
    SuspendThread(thread_.get());
    supervisor_.end();
    EXPECT_EQ(suspensions(), 1u) << has_resumed;
    SetEvent(go_on.get());
    ResumeThread(thread_.get());
    while (supervisor_.is_silent()) Sleep(1);
    EXPECT_EQ(ResumeThread(sleeper_.get()), 1u);
  }
}

struct WithCoarseClock {
  const CoarseClock coarse;
};
// The clock is there before the supervisor's thread.
class TickingSupervisorThreadTest : WithCoarseClock, public SupervisorThreadTest {};

// The deadline is one of milliseconds, not of the system's ticks. The supervisor's last wait in a freeze must end with
// the deadline, and not with the tick before it (46.9 ms) or behind it (62.5 ms). When the supervisor comes back from
// that wait is not judged. On a busy machine it may come back from an earlier wait only after the deadline, so a
// quarter of the freezes is enough.
TEST_F(TickingSupervisorThreadTest, TheDeadlineHoldsWhereTheClockTicks) {
  ASSERT_TRUE(started_);
  const TickClock clock;
  constexpr std::uint64_t kDeadlineNs = std::uint64_t{kDeadlineMs} * 1'000'000;
  constexpr int kFreezes = 40;
  int in_time = 0;
  CoarseClock::record_waits(supervisor_.thread_id());
  for (int i = 0; i < kFreezes; ++i) {
    CoarseClock::wait_for_tick();
    const std::uint64_t begun = clock.now_ns();
    freeze();
    while (!supervisor_.overdue()) SwitchToThread();
    const std::uint64_t frozen = clock.in_ns(supervisor_.last_frozen_ticks()) - begun;
    EXPECT_GE(frozen, kDeadlineNs);
    supervisor_.end();
    in_time += g_last_wait_ends_ns >= begun + kDeadlineNs && g_last_wait_ends_ns <= begun + kDeadlineNs + 5'000'000;
  }
  std::printf("in %d of %d freezes the last wait ended with the deadline\n", in_time, kFreezes);
  EXPECT_GE(in_time, kFreezes / 4);
}

TEST(PreciseWait, ALimitHoldsWhereTheClockTicks) {
  const CoarseClock coarse;
  const TickClock clock;
  const UniqueHandle never(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  PreciseWait wait;
  for (const DWORD limit_ms : {1, 20}) {
    std::uint64_t shortest = ~std::uint64_t{0}, longest_plain = 0;
    for (int i = 0; i < 10; ++i) {
      CoarseClock::wait_for_tick();
      const std::uint64_t begun = clock.now_ns();
      EXPECT_EQ(wait.wait(never.get(), std::uint64_t{limit_ms} * 1'000'000), static_cast<DWORD>(WAIT_TIMEOUT));
      shortest = std::min(shortest, clock.now_ns() - begun);
      CoarseClock::wait_for_tick();
      const std::uint64_t begun_plain = clock.now_ns();
      WaitForSingleObject(never.get(), limit_ms);
      longest_plain = std::max(longest_plain, clock.now_ns() - begun_plain);
    }
    EXPECT_LE(shortest, (limit_ms + 4) * 1'000'000u);
    EXPECT_GE(longest_plain, 10'000'000u) << "the clock of this test does not tick";
  }
}

TEST_F(SupervisorThreadTest, ASuspendedSupervisorIsStopped) {
  ASSERT_TRUE(started_);
  ASSERT_EQ(SuspendThread(thread_.get()), 0u);
  wait_for_silence();
  EXPECT_EQ(supervisor_.wait_while_silent(INFINITE), Supervisor::Silence::stopped);
  ResumeThread(thread_.get());
}

TEST_F(SupervisorThreadTest, ASupervisorThatHasEndedIsStopped) {
  ASSERT_TRUE(started_);
  TerminateThread(thread_.get(), 0);
  wait_for_silence();
  EXPECT_EQ(supervisor_.wait_while_silent(INFINITE), Supervisor::Silence::stopped);
}

}  // namespace
}  // namespace mixwalk
