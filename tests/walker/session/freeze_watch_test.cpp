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
  std::uint32_t opened = 0;
  std::uint32_t closed = 0;  // this thread may not be opened
  std::map<std::uint32_t, std::uint32_t> counts;
  std::vector<std::uint32_t> resumed;
};

class FreezeWatchTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimitMs = 1000;

  void write(std::size_t slot, LedgerEntry entry) { page_->slots[slot] = entry.word(); }
  FreezeState state(std::size_t slot) { return LedgerEntry::of(page_->slots[slot]).state; }
  int look(std::uint64_t now_ms, bool agent_ended = false) {
    return watch_->look(now_ms, agent_ended, threads_);
  }

  std::unique_ptr<LedgerPage> page_ = std::make_unique<LedgerPage>();
  std::unique_ptr<FreezeWatch> watch_ = std::make_unique<FreezeWatch>(*page_, kLimitMs);
  FakeThreads threads_;
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

TEST_F(FreezeWatchTest, ThatOfDoStackSnapshotComesOnTop) {
  threads_.counts[7] = 2;
  threads_.counts[8] = 1;
  write(0, {7, 1, FreezeState::walked});
  write(1, {8, 1, FreezeState::walked});
  EXPECT_EQ(look(0, true), 3);
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
