#include "walker/session/freeze_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace mixwalk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Threads with suspend counts.
class FakeThreads final : public ThreadResumer {
 public:
  bool open(std::uint32_t thread) override {
    opened = thread;
    return thread != closed;
  }
  std::uint32_t resume() override {
    resumed.push_back(opened);
    std::uint32_t& count = counts[opened];
    return count == 0 ? 0 : count--;
  }
  Stopped stopped() override { return what_is_stopped; }
  bool is_suspended(std::uint32_t thread) override { return counts[thread] != 0; }
  Stopped what_is_stopped = Stopped::nothing;
  std::uint32_t opened = 0;
  std::uint32_t closed = 0;  // this thread may not be opened
  std::map<std::uint32_t, std::uint32_t> counts;
  std::vector<std::uint32_t> resumed;
};

class FreezeWatchTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimitMs = 1000, kPeriodMs = 20;

  void write(std::size_t slot, LedgerEntry entry) { page_->slots[slot] = entry.word(); }
  FreezeState state(std::size_t slot) { return LedgerEntry::of(page_->slots[slot]).state; }
  // Looks until now_ms as often as mixwalk.exe does. Returns how many freezes were ended.
  int look(std::uint64_t now_ms, bool agent_ended = false) {
    int times = 0;
    for (; last_ms_ + kPeriodMs < now_ms; last_ms_ += kPeriodMs) times += look_once(last_ms_ + kPeriodMs);
    return times + look_once(last_ms_ = now_ms, agent_ended);
  }
  int look_once(std::uint64_t now_ms, bool agent_ended = false) {
    return watch_->look(now_ms, agent_ended, threads_);
  }

  std::unique_ptr<LedgerPage> page_ = std::make_unique<LedgerPage>();
  std::unique_ptr<FreezeWatch> watch_ = std::make_unique<FreezeWatch>(*page_, kLimitMs);
  FakeThreads threads_;
  std::uint64_t last_ms_ = 0;
};

TEST_F(FreezeWatchTest, AFreezeWithinItsTimeIsLeftAlone) {
  write(3, {7, 1, FreezeState::frozen});
  EXPECT_EQ(look(0), 0);
  EXPECT_TRUE(watch_->any());
  EXPECT_EQ(look(kLimitMs - 1), 0);
  EXPECT_THAT(threads_.resumed, IsEmpty());
}

TEST_F(FreezeWatchTest, AnOverdueOneIsGivenBackOnce) {
  threads_.counts[7] = 3;  // two of the suspensions are not ours
  write(3, {7, 1, FreezeState::frozen});
  look(0);
  EXPECT_EQ(look(kLimitMs), 1);
  EXPECT_EQ(state(3), FreezeState::given_back);
  EXPECT_EQ(look(5 * kLimitMs), 0);
  EXPECT_EQ(look(6 * kLimitMs, true), 0);
  EXPECT_EQ(threads_.counts[7], 2u);
  EXPECT_FALSE(watch_->any());
}

// The clock alone says that the suspension has lasted too long.
TEST_F(FreezeWatchTest, AMachineThatStoodStillMakesNothingOverdue) {
  threads_.counts[7] = 1;
  write(3, {7, 1, FreezeState::frozen});
  look(0);
  EXPECT_EQ(look_once(100 * kLimitMs), 0);
  EXPECT_EQ(look_once(200 * kLimitMs), 0);
  EXPECT_TRUE(watch_->any());
  EXPECT_EQ(threads_.counts[7], 1u);
  last_ms_ = 200 * kLimitMs;
  EXPECT_EQ(look(201 * kLimitMs), 1);
}

// On a very busy machine.
TEST_F(FreezeWatchTest, LooksHalfASecondApartMakeALongLimitLittleLonger) {
  constexpr std::uint64_t kLongLimitMs = 3'050;
  watch_->set_limit(kLongLimitMs);
  threads_.counts[7] = 1;
  write(3, {7, 1, FreezeState::frozen});
  int times = 0;
  std::uint64_t now_ms = 0;
  for (; times == 0 && now_ms < 10 * kLongLimitMs; now_ms += 500) times = look_once(now_ms);
  EXPECT_EQ(times, 1);
  EXPECT_LE(now_ms, 2 * kLongLimitMs);
}

// Other software may wait behind the agent's SuspendThread.
TEST_F(FreezeWatchTest, ASuspendingAgentIsHelpedAtLast) {
  threads_.counts[7] = 1;
  write(3, {7, 1, FreezeState::suspending});
  look(0);
  EXPECT_EQ(look(FreezeWatch::kLastResortMs - kPeriodMs), 0);
  EXPECT_EQ(look(FreezeWatch::kLastResortMs + kPeriodMs), 1);
  EXPECT_EQ(threads_.counts[7], 0u);
}

TEST_F(FreezeWatchTest, ASuspendingAgentWithPatchedCallsIsHelpedAtOnce) {
  watch_->set_patched();
  threads_.counts[7] = 1;
  write(3, {7, 1, FreezeState::suspending});
  look(0);
  EXPECT_EQ(look(kLimitMs + kPeriodMs), 1);
}

// The code of a patch waits before the call. The thread runs, so it needs no help, and a ResumeThread could only undo a
// suspension that the program makes.
TEST_F(FreezeWatchTest, AThreadThatIsNotSuspendedYetIsLeftAlone) {
  watch_->set_patched();
  write(3, {7, 1, FreezeState::suspending});
  look(0);
  EXPECT_EQ(look(2 * FreezeWatch::kLastResortMs), 0);
  EXPECT_THAT(threads_.resumed, IsEmpty());
  EXPECT_GE(watch_->longest_ms(), FreezeWatch::kLastResortMs);
  threads_.counts[7] = 1;
  EXPECT_EQ(look(last_ms_ + kPeriodMs), 1);
}

// mixwalk.exe was ended around its ResumeThread.
TEST_F(FreezeWatchTest, WhatAnEarlierWatchHasTakenIsTakenAgainIfTheThreadIsSuspended) {
  threads_.counts = {{7, 1}, {8, 0}};
  write(3, {7, 1, FreezeState::taking});
  write(4, {8, 1, FreezeState::taking});
  look(0);
  EXPECT_EQ(look(2 * kLimitMs), 0) << "this watch has taken it itself";
  watch_->set_inherited();
  look(last_ms_ + kPeriodMs);
  EXPECT_EQ(look(last_ms_ + 2 * kLimitMs), 1);
  EXPECT_THAT(threads_.resumed, ElementsAre(7));
  EXPECT_EQ(state(3), FreezeState::given_back);
  EXPECT_EQ(state(4), FreezeState::taking);
}

TEST_F(FreezeWatchTest, WithPatchedCallsAThreadIsResumedAgainAndAgain) {
  const auto resumed = [&](std::uint32_t times) {
    int resumes = 0;
    for (std::uint32_t turn = 1; turn <= times; ++turn) {
      threads_.counts[7] = 1;
      write(3, {7, turn, FreezeState::frozen});
      look(last_ms_ + kPeriodMs);
      resumes += look(last_ms_ + 2 * kLimitMs);
    }
    return resumes;
  };
  EXPECT_EQ(resumed(5), static_cast<int>(FreezeWatch::kMaxPerThread));
  watch_->set_patched();
  EXPECT_EQ(resumed(5), 5);
  const auto most = static_cast<int>(FreezeWatch::kMaxPerThreadPatched);
  EXPECT_EQ(resumed(FreezeWatch::kMaxPerThreadPatched), most - 5 - static_cast<int>(FreezeWatch::kMaxPerThread));
}

// A short limit also needs some looks.
TEST_F(FreezeWatchTest, AShortLimitHoldsToo) {
  watch_->set_limit(200);
  threads_.counts[7] = 1;
  write(3, {7, 1, FreezeState::frozen});
  look(0);
  EXPECT_EQ(look_once(200), 0);
  EXPECT_EQ(look_once(400), 0);
  last_ms_ = 400;
  EXPECT_EQ(look(500), 0);
  EXPECT_EQ(look(520), 1);
}

// The agent's thread stands around its SuspendThread, so nobody knows whether that call has happened. The program has
// suspended the same thread.
TEST_F(FreezeWatchTest, ASuspendingAgentThatIsLateIsLeftAlone) {
  threads_.counts[7] = 1;
  write(0, {7, 1, FreezeState::suspending});
  look(0);
  EXPECT_EQ(look(20 * kLimitMs), 0);
  EXPECT_EQ(state(0), FreezeState::suspending);
  EXPECT_TRUE(watch_->any());
  EXPECT_EQ(look(21 * kLimitMs, true), 1) << "the agent has ended";
}

TEST_F(FreezeWatchTest, ASuspendingAgentThatIsSuspendedForGoodIsHelped) {
  threads_.counts[7] = 1;
  write(0, {7, 1, FreezeState::suspending});
  look(0);
  threads_.what_is_stopped = Stopped::agent;
  EXPECT_EQ(look(2 * kLimitMs), 1);
  EXPECT_EQ(threads_.counts[7], 0u);
}

// A debugger or a profiler suspends the agent for a moment, again and again.
TEST_F(FreezeWatchTest, ASuspendingAgentThatIsSuspendedForAMomentIsLeftAlone) {
  threads_.counts[7] = 1;
  write(0, {7, 1, FreezeState::suspending});
  look(0);
  EXPECT_EQ(look(kLimitMs), 0);
  for (int i = 0; i < 50; ++i) {
    threads_.what_is_stopped = Stopped::agent;
    EXPECT_EQ(look(last_ms_ + (FreezeWatch::kStoppedLooks - 1) * kPeriodMs), 0);
    threads_.what_is_stopped = Stopped::nothing;
    EXPECT_EQ(look(last_ms_ + kPeriodMs), 0);
  }
}

// NtSuspendProcess: each thread has a suspension of the program's, which must not be taken for that of DoStackSnapshot.
TEST_F(FreezeWatchTest, AProcessThatIsSuspendedAsAWholeIsLeftAlone) {
  threads_.what_is_stopped = Stopped::process;
  for (std::uint32_t thread = 1; thread <= 4; ++thread) threads_.counts[thread] = 2;
  write(1, {1, 1, FreezeState::suspending});
  write(2, {2, 1, FreezeState::frozen});
  write(3, {3, 1, FreezeState::walked});
  write(4, {4, 1, FreezeState::resuming});
  look(0);
  EXPECT_EQ(look(5 * kLimitMs), 0);
  EXPECT_TRUE(watch_->any());
  // The process continues, and the supervisor inside has the whole time again.
  threads_.what_is_stopped = Stopped::nothing;
  EXPECT_EQ(look(6 * kLimitMs - 2 * kPeriodMs), 0);
  EXPECT_EQ(look(7 * kLimitMs), 3);
  EXPECT_EQ(state(1), FreezeState::suspending);
}

TEST_F(FreezeWatchTest, ThatOfDoStackSnapshotComesOnTop) {
  threads_.counts[7] = 2;
  threads_.counts[8] = 1;
  write(0, {7, 1, FreezeState::walked});
  write(1, {8, 1, FreezeState::walked});
  EXPECT_EQ(look(0, true), 2) << "of two threads";
  EXPECT_EQ(threads_.counts[7], 0u);
  EXPECT_THAT(threads_.resumed, ElementsAre(7, 7, 8)) << "no third try, and none of what runs";
  EXPECT_EQ(state(0), FreezeState::walk_given_back);
  EXPECT_EQ(state(1), FreezeState::given_back);
}

TEST_F(FreezeWatchTest, WhereOnlyThatOfDoStackSnapshotIsLeftOneIsGivenBack) {
  threads_.counts[7] = 2;  // one of the suspensions is not ours
  write(0, {7, 1, FreezeState::walk_holds});
  EXPECT_EQ(look(0, true), 1);
  EXPECT_EQ(threads_.counts[7], 1u);
  EXPECT_EQ(state(0), FreezeState::walk_given_back);
}

TEST_F(FreezeWatchTest, AThreadThatWasResumedInsideIsLeftAlone) {
  threads_.counts[7] = 1;  // the program's suspension
  write(0, {7, 1, FreezeState::resumed});
  look(0);
  EXPECT_EQ(look(5 * kLimitMs), 0);
  EXPECT_EQ(look(6 * kLimitMs, true), 0);
  EXPECT_EQ(threads_.counts[7], 1u);
  EXPECT_FALSE(watch_->any());
}

// The DLL does not undo a suspension that mixwalk.exe has taken, so mixwalk.exe must not take one that it cannot undo.
TEST_F(FreezeWatchTest, WhatCannotBeGivenBackIsNotTaken) {
  write(0, {7, 1, FreezeState::frozen});
  threads_.closed = 7;
  EXPECT_EQ(look(0, true), 0);
  EXPECT_EQ(state(0), FreezeState::frozen);
  EXPECT_FALSE(watch_->any());
}

TEST_F(FreezeWatchTest, WhatIsPastTheLimitIsNotTakenBeforeTheAgentEnds) {
  for (std::uint32_t turn = 0; turn <= FreezeWatch::kMaxPerThread; ++turn) {
    threads_.counts[7] = 1;
    write(0, {7, turn, FreezeState::frozen});
    look(turn * kLimitMs * 2);
    look(turn * kLimitMs * 2 + kLimitMs);
  }
  EXPECT_EQ(threads_.resumed.size(), FreezeWatch::kMaxPerThread);
  EXPECT_EQ(state(0), FreezeState::frozen) << "the supervisor or the agent gives it back";
  EXPECT_EQ(look(100 * kLimitMs, true), 1) << "nobody else can";
  EXPECT_EQ(threads_.counts[7], 0u);
}

TEST_F(FreezeWatchTest, EachFreezeHasATimeOfItsOwn) {
  for (std::uint32_t turn = 0; turn < 10; ++turn) {
    write(0, {7, turn, FreezeState::frozen});
    EXPECT_EQ(look(turn * (kLimitMs - 1)), 0);
  }
}

TEST_F(FreezeWatchTest, AWalkDoesNotBeginItsTimeAnew) {
  threads_.counts[7] = 1;
  write(0, {7, 1, FreezeState::suspending});
  look(0);
  write(0, {7, 1, FreezeState::walked});
  look(kLimitMs / 2);
  write(0, {7, 1, FreezeState::frozen});
  EXPECT_EQ(look(kLimitMs), 1);
}

TEST_F(FreezeWatchTest, AnAgentThatHasEndedGivesBackAllAtOnce) {
  std::uint32_t thread = 1;
  for (const FreezeState under_way : {FreezeState::suspending, FreezeState::frozen,
                                      FreezeState::walked, FreezeState::resuming}) {
    threads_.counts[thread] = 1;
    write(thread, {thread, 1, under_way});
    ++thread;
  }
  write(9, {9, 1, FreezeState::given_back});
  EXPECT_EQ(look(0, true), 4);
  EXPECT_THAT(threads_.resumed, ElementsAre(1, 2, 3, 4));
}

TEST_F(FreezeWatchTest, AThreadThatWasNotSuspendedYetIsToldSo) {
  write(0, {7, 1, FreezeState::suspending});
  EXPECT_EQ(look(0, true), 0);
  EXPECT_EQ(state(0), FreezeState::not_suspended);
}

TEST_F(FreezeWatchTest, AHostileTargetGetsEachThreadResumedAFewTimesOnly) {
  threads_.counts[7] = 100;
  for (std::uint32_t turn = 0; turn < 50; ++turn) {
    for (std::size_t slot = 0; slot < LedgerPage::kSlots; ++slot) {
      write(slot, {7, turn, FreezeState::walked});
    }
    look(turn, true);
  }
  EXPECT_EQ(threads_.resumed.size(), FreezeWatch::kMaxPerThread);
}

TEST_F(FreezeWatchTest, NoiseHasAnEnd) {
  std::mt19937_64 random(4711);
  for (int i = 0; i < 50; ++i) {
    for (auto& slot : page_->slots) slot = random();
    look(i * kLimitMs, i % 2 == 0);
  }
  EXPECT_LE(threads_.resumed.size(), FreezeWatch::kMaxPerThread * FreezeWatch::kMaxThreads);
}

}  // namespace
}  // namespace mixwalk
