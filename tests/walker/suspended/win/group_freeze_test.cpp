// Groups of real threads. When the supervisor has to look, the test does so instead.

#include "walker/suspended/win/group_freeze.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "tests/walker/suspended/win/resume_hook.h"
#include "unmanaged/win/plain_memory.h"
#include "walker/suspended/group_capture.h"
#include "walker/suspended/win/supervisor.h"
#include "walker/suspended/win/windows_thread.h"

namespace mixwalk {
namespace {

constexpr DWORD kDeadlineMs = 500;

DWORD WINAPI watched_resume(HANDLE thread) {
  note_resume();
  return ResumeThread(thread);
}

class GroupFreezeTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kThreads = 3;

  GroupFreezeTest() : supervisor_(ledger_, kDeadlineMs, &watched_resume) {
    forget_resumes();
    stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    group().clear();
    for (std::size_t i = 0; i < kThreads; ++i) {
      DWORD id = 0;
      threads_.emplace_back(CreateThread(nullptr, 0, &wait, this, 0, &id));
      // Under Wine a thread has no TEB before it runs.
      WaitForSingleObject(runs_.get(), INFINITE);
      EXPECT_TRUE(handles_[i].open(id));
      EXPECT_TRUE(group().add(handles_[i]));
    }
  }
  ~GroupFreezeTest() override {
    for (std::size_t i = 0; i < kThreads; ++i) EXPECT_EQ(suspensions(i), 0u);
    for (const auto& slot : ledger_.slots) {
      EXPECT_EQ(LedgerEntry::of(slot).state, FreezeState::empty);
    }
    SetEvent(stop_.get());
    for (const UniqueHandle& thread : threads_) WaitForSingleObject(thread.get(), INFINITE);
  }

  static DWORD WINAPI wait(void* test) {
    auto& all = *static_cast<GroupFreezeTest*>(test);
    SetEvent(all.runs_.get());
    return WaitForSingleObject(all.stop_.get(), INFINITE);
  }

  GroupFreeze& group() { return supervisor_.group(); }
  void look_after(DWORD milliseconds) {
    supervisor_.look(TickClock().now_ns() + std::uint64_t{milliseconds} * 1'000'000);
  }
  void suspend_all() {
    group().begin();
    for (std::size_t i = 0; i < kThreads; ++i) ASSERT_EQ(group().suspend(i), Suspend::done);
  }
  void resume_all() {
    for (std::size_t i = 0; i < kThreads; ++i) group().resume(i);
    group().end();
  }
  DWORD suspensions(std::size_t place) {
    if (WaitForSingleObject(threads_[place].get(), 0) == WAIT_OBJECT_0) return 0;
    const DWORD before = SuspendThread(threads_[place].get());
    ResumeThread(threads_[place].get());
    return before;
  }
  // Writes the state as mixwalk.exe does.
  void write(std::size_t place, FreezeState state) {
    ledger_.slots[place] = LedgerEntry::of(ledger_.slots[place]).with(state).word();
  }

  LedgerPage ledger_{};
  Supervisor supervisor_;
  UniqueHandle stop_, runs_{CreateEventW(nullptr, FALSE, FALSE, nullptr)};
  std::vector<UniqueHandle> threads_;
  std::array<ThreadHandle, kThreads> handles_;
};

TEST_F(GroupFreezeTest, InTimeEachIsResumedByItsSuspender) {
  suspend_all();
  look_after(0);
  for (std::size_t i = 0; i < kThreads; ++i) {
    EXPECT_FALSE(group().overdue(i));
    EXPECT_EQ(suspensions(i), 1u);
    EXPECT_EQ(LedgerEntry::of(ledger_.slots[i]).thread, handles_[i].id());
  }
  group().resume(1);
  EXPECT_EQ(suspensions(0), 1u);
  EXPECT_EQ(suspensions(1), 0u);
  EXPECT_EQ(suspensions(2), 1u);
  group().resume(0);
  group().resume(2);
  group().end();
  EXPECT_EQ(g_resumes, 3);
}

TEST_F(GroupFreezeTest, AnOverdueGroupIsLetGoOnceAndSaysSoBefore) {
  suspend_all();
  bool overdue_before = false;
  g_before_resume = [&] { overdue_before = group().overdue(2); };
  look_after(kDeadlineMs);
  EXPECT_TRUE(overdue_before);
  EXPECT_NE(group().last_frozen_ns(), 0u);
  for (std::size_t i = 0; i < kThreads; ++i) EXPECT_EQ(suspensions(i), 0u);
  look_after(10 * kDeadlineMs);
  resume_all();
  EXPECT_EQ(g_resumes, 3);
  // The next group has its own time.
  suspend_all();
  look_after(0);
  EXPECT_FALSE(group().overdue(0));
  resume_all();
}

// The supervisor comes while the threads are being suspended. The threads that follow must not stay suspended.
TEST_F(GroupFreezeTest, LetGoBeforeTheLastIsSuspended) {
  group().begin();
  ASSERT_EQ(group().suspend(0), Suspend::done);
  look_after(kDeadlineMs);
  EXPECT_EQ(group().suspend(1), Suspend::not_now);
  group().resume(0);
  group().end();
  EXPECT_EQ(g_resumes, 1);
}

// When the next thread is suspended, the supervisor has counted the members and is resuming the first thread.
TEST_F(GroupFreezeTest, SuspendedWhileTheSupervisorLetsTheGroupGo) {
  group().begin();
  ASSERT_EQ(group().suspend(0), Suspend::done);
  Suspend second = Suspend::done;
  g_before_resume = [&] { second = group().suspend(1); };
  look_after(kDeadlineMs);
  EXPECT_EQ(second, Suspend::not_now);
  EXPECT_EQ(suspensions(1), 0u);
  group().resume(0);
  group().end();
}

TEST_F(GroupFreezeTest, WhenItWasLetGoIsOfThisGroup) {
  suspend_all();
  look_after(kDeadlineMs);
  EXPECT_NE(group().last_frozen_ns(), 0u);
  resume_all();
  suspend_all();
  EXPECT_EQ(group().last_frozen_ns(), 0u);
  resume_all();
}

TEST_F(GroupFreezeTest, AThreadThatHasEndedIsEnding) {
  SetEvent(stop_.get());
  for (const UniqueHandle& thread : threads_) WaitForSingleObject(thread.get(), INFINITE);
  group().begin();
  EXPECT_EQ(group().suspend(0), Suspend::ending);
  group().end();
}

TEST_F(GroupFreezeTest, TheProgramsOwnSuspensionStays) {
  SuspendThread(threads_[0].get());
  SuspendThread(threads_[1].get());
  suspend_all();
  look_after(kDeadlineMs);
  resume_all();
  EXPECT_EQ(suspensions(0), 1u);
  EXPECT_EQ(suspensions(1), 1u);
  suspend_all();
  resume_all();
  EXPECT_EQ(suspensions(0), 1u);
  ResumeThread(threads_[0].get());
  ResumeThread(threads_[1].get());
}

TEST_F(GroupFreezeTest, WhatMixwalkExeHasTakenIsNotGivenBackTwice) {
  SuspendThread(threads_[1].get());  // the program's suspension
  suspend_all();
  write(1, FreezeState::taking);
  EXPECT_EQ(ResumeThread(threads_[1].get()), 2u);
  write(1, FreezeState::given_back);
  EXPECT_TRUE(group().overdue(1));
  EXPECT_FALSE(group().overdue(0));
  resume_all();
  EXPECT_EQ(suspensions(1), 1u);
  ResumeThread(threads_[1].get());
}

// mixwalk.exe took the suspension before SuspendThread had happened, and found a running thread.
TEST_F(GroupFreezeTest, WhatMixwalkExeTookInVainIsGivenBackByUs) {
  suspend_all();
  write(2, FreezeState::not_suspended);
  resume_all();
  EXPECT_EQ(suspensions(2), 0u);
}

// The program has stopped the supervisor in its ResumeThread.
TEST_F(GroupFreezeTest, ASupervisorThatFallsSilentWhileItResumes) {
  suspend_all();
  look_after(0);
  write(0, FreezeState::resuming);
  const ULONGLONG begun = GetTickCount64();
  resume_all();  // waits until the supervisor has been silent for 2 s
  EXPECT_GE(GetTickCount64() - begun, 1'900u);
  EXPECT_EQ(suspensions(0), 0u);
  // After that, no thread is suspended any more.
  group().begin();
  EXPECT_EQ(group().suspend(0), Suspend::not_now);
  group().end();
}

// The supervisor's thread lives, and has not returned from its ResumeThread for seconds. It has resumed the thread,
// which the program suspends meanwhile.
TEST(GroupThreadTest, ALateSupervisorIsLeftToItsWork) {
  g_resumes = 0;
  LedgerPage ledger{};
  Supervisor supervisor(ledger, 50, &watched_resume);
  ASSERT_TRUE(supervisor.start());
  DWORD id = 0;
  const UniqueHandle stop(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  const UniqueHandle reached(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  const UniqueHandle thread(CreateThread(
      nullptr, 0,
      [](void* end) WINAPI -> DWORD {
        Sleep(0);  // under Wine a thread has no TEB before it runs
        return WaitForSingleObject(end, INFINITE);
      },
      stop.get(), 0, &id));
  Sleep(100);
  ThreadHandle handle;
  ASSERT_TRUE(handle.open(id));
  g_before_resume = [&] {
    ResumeThread(thread.get());
    SuspendThread(thread.get());  // the program's suspension
    SuspendThread(thread.get());  // for the ResumeThread that the supervisor calls afterwards
    SetEvent(reached.get());
    Sleep(3'000);
  };
  GroupFreeze& group = supervisor.group();
  group.clear();
  ASSERT_TRUE(group.add(handle));
  group.begin();
  ASSERT_EQ(group.suspend(0), Suspend::done);
  ASSERT_EQ(WaitForSingleObject(reached.get(), 10'000), WAIT_OBJECT_0);
  group.resume(0);
  group.end();
  EXPECT_EQ(ResumeThread(thread.get()), 1u) << "the program's suspension was undone";
  EXPECT_EQ(g_resumes, 1);
  SetEvent(stop.get());
  WaitForSingleObject(thread.get(), INFINITE);
}

TEST_F(GroupFreezeTest, AFullLedgerSuspendsNothing) {
  for (std::size_t i = 2; i < LedgerPage::kSlots; ++i) {
    ledger_.slots[i] = LedgerEntry{4, 1, FreezeState::frozen}.word();
  }
  group().begin();
  EXPECT_EQ(group().suspend(0), Suspend::done);
  EXPECT_EQ(group().suspend(1), Suspend::done);
  EXPECT_EQ(group().suspend(2), Suspend::not_now) << "it is not ending";
  group().resume(0);
  group().resume(1);
  group().end();
  for (auto& slot : ledger_.slots) slot = 0;
}

// Two cells, each on the stack of its own thread, that count up in turn under one lock. At every moment they differ by
// at most one.
class LockStep {
 public:
  LockStep() {
    InitializeCriticalSection(&lock_);
    for (int i = 0; i < 2; ++i) {
      sides_[i].all = this;
      sides_[i].which = i;
      DWORD id = 0;
      threads_[i] = UniqueHandle(CreateThread(nullptr, 0, &run, &sides_[i], 0, &id));
      WaitForSingleObject(sides_[i].ready.get(), INFINITE);
      EXPECT_TRUE(handles[i].open(id));
    }
  }
  ~LockStep() {
    stop_ = true;
    for (const UniqueHandle& thread : threads_) WaitForSingleObject(thread.get(), INFINITE);
    DeleteCriticalSection(&lock_);
  }

  // Returns the cell of a side from a copy of its stack, or nothing if there is no such copy.
  std::optional<std::uint64_t> cell(int side, const RawSample& sample) const {
    std::uint64_t value = 0;
    const auto address = reinterpret_cast<std::uint64_t>(sides_[side].cell.load());
    if (sample.fault != CaptureFault::none || !sample.stack.read(address, &value, sizeof value)) {
      return std::nullopt;
    }
    return value;
  }
  std::array<ThreadHandle, 2> handles;

 private:
  struct Side {
    LockStep* all = nullptr;
    int which = 0;
    std::atomic<volatile std::uint64_t*> cell{nullptr};
    UniqueHandle ready{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
  };

  static DWORD WINAPI run(void* parameter) {
    Side& side = *static_cast<Side*>(parameter);
    LockStep& all = *side.all;
    volatile std::uint64_t cell = 0;
    side.cell = &cell;
    SetEvent(side.ready.get());
    while (!all.stop_) {
      EnterCriticalSection(&all.lock_);
      if (all.turn_ == side.which) {
        cell = cell + 1;
        all.turn_ = 1 - side.which;
      }
      LeaveCriticalSection(&all.lock_);
      SwitchToThread();
    }
    return 0;
  }

  CRITICAL_SECTION lock_;
  int turn_ = 0;  // under lock_
  std::atomic<bool> stop_{false};
  Side sides_[2];
  UniqueHandle threads_[2];
};

// Counts the pairs that cannot be from one moment.
class Pairs {
 public:
  void add(const LockStep& cells, const RawSample& first, const RawSample& second) {
    const auto left = cells.cell(0, first), right = cells.cell(1, second);
    if (!left || !right) return;
    ++pairs;
    torn += *left != *right && *left != *right + 1;
  }
  int pairs = 0, torn = 0;
};

constexpr int kDumps = 1'000;

// Freezes both threads together, or one after the other.
Pairs read_pairs(bool together) {
  LedgerPage ledger{};
  Supervisor supervisor(ledger, 5'000);
  EXPECT_TRUE(supervisor.start());
  LockStep cells;
  Pairs pairs;
  const PlainMemory memory;
  std::vector<std::byte> arenas[2] = {std::vector<std::byte>(1 << 20),
                                      std::vector<std::byte>(1 << 20)};
  GroupFreeze& group = supervisor.group();
  for (int i = 0; i < kDumps; ++i) {
    std::vector<GroupMember> members(2);
    group.clear();
    EXPECT_TRUE(group.add(cells.handles[0]));
    if (together) {
      EXPECT_TRUE(group.add(cells.handles[1]));
      capture_group(group, members, arenas[0], memory);
    } else {
      const auto first = std::span(members).first(1), second = std::span(members).subspan(1);
      capture_group(group, first, arenas[0], memory);
      group.clear();
      EXPECT_TRUE(group.add(cells.handles[1]));
      Sleep(1);  // a dump walks and names one thread before it comes to the other
      capture_group(group, second, arenas[1], memory);
    }
    pairs.add(cells, members[0].sample, members[1].sample);
  }
  std::printf("%d pairs, %d torn\n", pairs.pairs, pairs.torn);
  return pairs;
}

TEST(Moment, ThreadsThatStandTogetherNeverGiveATornPair) {
  const Pairs pairs = read_pairs(true);
  EXPECT_EQ(pairs.pairs, kDumps);
  EXPECT_EQ(pairs.torn, 0);
}

// This shows that the test above can fail.
TEST(Moment, ThreadsThatStandOneAfterTheOtherDo) {
  const Pairs pairs = read_pairs(false);
  EXPECT_EQ(pairs.pairs, kDumps);
  EXPECT_GT(pairs.torn, 0);
}

}  // namespace
}  // namespace mixwalk
