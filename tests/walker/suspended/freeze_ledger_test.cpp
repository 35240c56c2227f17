#include "walker/suspended/freeze_ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace mixwalk {
namespace {

class FreezeLedgerTest : public testing::Test {
 protected:
  LedgerEntry entry(std::size_t slot) { return LedgerEntry::of(page_->slots[slot]); }
  void set(std::size_t slot, FreezeState state) {
    page_->slots[slot] = entry(slot).with(state).word();
  }
  std::unique_ptr<LedgerPage> page_ = std::make_unique<LedgerPage>();
};

TEST_F(FreezeLedgerTest, AnEntryIsOneWordAndBack) {
  const LedgerEntry entry{0xFFFF'FFFE, LedgerEntry::kTurns - 1, FreezeState::walked};
  EXPECT_EQ(LedgerEntry::of(entry.word()), entry);
  EXPECT_EQ(LedgerEntry::of(0), LedgerEntry{});
  EXPECT_EQ(LedgerEntry::of(0xFF).state, FreezeState::empty) << "there is no such state";
}

TEST_F(FreezeLedgerTest, ASuspensionIsWrittenDownFromBeforeItsBeginningToItsEnd) {
  LedgerFreeze freeze;
  ASSERT_TRUE(freeze.begin(*page_, 7));
  EXPECT_EQ(entry(0), (LedgerEntry{7, 1, FreezeState::suspending}));
  EXPECT_TRUE(freeze.suspended());
  EXPECT_EQ(entry(0).state, FreezeState::frozen);
  freeze.walk_begins();
  EXPECT_EQ(entry(0).state, FreezeState::walked);
  freeze.walk_ended();
  EXPECT_EQ(entry(0).state, FreezeState::frozen);
  EXPECT_TRUE(freeze.take());
  EXPECT_EQ(entry(0).state, FreezeState::resuming);
  freeze.end();
  EXPECT_EQ(entry(0), (LedgerEntry{0, 1, FreezeState::empty}));
  EXPECT_FALSE(freeze.taken_from_outside());
}

TEST_F(FreezeLedgerTest, TheSameThreadAgainIsAnotherWord) {
  LedgerFreeze freeze;
  ASSERT_TRUE(freeze.begin(*page_, 7));
  const std::uint64_t first = page_->slots[0];
  freeze.end();
  ASSERT_TRUE(freeze.begin(*page_, 7));
  EXPECT_NE(page_->slots[0], first);
}

TEST_F(FreezeLedgerTest, OnlyOneCanTakeASuspension) {
  LedgerFreeze freeze;
  ASSERT_TRUE(freeze.begin(*page_, 7));
  ASSERT_TRUE(freeze.suspended());
  EXPECT_TRUE(freeze.take());
  EXPECT_FALSE(freeze.take());
}

TEST_F(FreezeLedgerTest, WhatMixwalkExeHasTakenIsNotResumedAgain) {
  for (const FreezeState taken : {FreezeState::taking, FreezeState::given_back}) {
    LedgerFreeze freeze;
    ASSERT_TRUE(freeze.begin(*page_, 7));
    ASSERT_TRUE(freeze.suspended());
    freeze.walk_begins();
    set(0, taken);
    freeze.walk_ended();
    EXPECT_EQ(entry(0).state, taken);
    EXPECT_TRUE(freeze.taken_from_outside());
    EXPECT_FALSE(freeze.take());
    freeze.end();
  }
}

TEST_F(FreezeLedgerTest, TakenBeforeItWasSuspended) {
  LedgerFreeze freeze;
  ASSERT_TRUE(freeze.begin(*page_, 7));
  set(0, FreezeState::not_suspended);
  EXPECT_FALSE(freeze.suspended());
  EXPECT_TRUE(freeze.taken_from_outside());
  freeze.end();
}

TEST_F(FreezeLedgerTest, AFullLedgerRefuses) {
  std::vector<LedgerFreeze> freezes(LedgerPage::kSlots);
  for (std::uint32_t i = 0; i < LedgerPage::kSlots; ++i) ASSERT_TRUE(freezes[i].begin(*page_, i + 1));
  LedgerFreeze more;
  EXPECT_FALSE(more.begin(*page_, 7));
  freezes[500].end();
  EXPECT_TRUE(more.begin(*page_, 7));
  EXPECT_EQ(entry(500).thread, 7u);
}

}  // namespace
}  // namespace mixwalk
