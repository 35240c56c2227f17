#include "walker/suspended/resuspension.h"

#include <gtest/gtest.h>

#include <vector>

namespace mixwalk {
namespace {

using Next = Looks::Next;

struct Pauses {
  std::vector<std::uint32_t> made;
  std::uint32_t left = 1000;
  bool operator()(std::uint32_t ms) {
    if (ms > left) return false;
    made.push_back(ms);
    left -= ms;
    return true;
  }
};

// How many looks there are if each has this result.
int count(Looks looks, const LookReasons& each, Pauses* pauses = nullptr) {
  Pauses unused;
  int looked = 1;
  const auto pause = [&](std::uint32_t ms) { return (pauses != nullptr ? *pauses : unused)(ms); };
  while (looked < 100 && looks.after(each, pause) != Next::none) ++looked;
  return looked;
}

TEST(Looks, ThreadWithoutAReasonIsLookedAtOnce) {
  EXPECT_EQ(count(Looks(), {}), 1);
  EXPECT_EQ(count(Looks(), {.overdue = true}), 1);
  EXPECT_EQ(count(Looks(), {.lacks_runtime = true}), 1) << "the next look is of another kind";
}

TEST(Looks, WithoutAStackADumpTriesMoreOftenThanARecordingAndPauses) {
  Pauses pauses;
  EXPECT_EQ(count(Looks(Looks::kOfRecording), {.no_stack = true}, &pauses), 4);
  EXPECT_TRUE(pauses.made.empty());
  EXPECT_EQ(count(Looks(Looks::kOfDump), {.no_stack = true}, &pauses), 16);
  EXPECT_EQ(pauses.made, (std::vector<std::uint32_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
  pauses.made.clear();
  pauses.left = 11;
  EXPECT_EQ(count(Looks(Looks::kOfDump), {.no_stack = true}, &pauses), 6) << "no time is left";
}

TEST(Looks, ThreadThatCostsAWholeDeadlineIsLeftAloneSooner) {
  EXPECT_EQ(count(Looks(), {.no_stack = true, .overdue = true}), 3);
}

TEST(Looks, OfTwoMomentsTheLastLookCounts) { EXPECT_EQ(count(Looks(), {.two_moments = true}), 3); }

TEST(Looks, StackWithAGapIsKeptForOneMoreLook) {
  Looks looks;
  const auto no_pause = [](std::uint32_t) { return false; };
  EXPECT_EQ(looks.after({.no_stack = true}, no_pause), Next::again);
  EXPECT_EQ(looks.after({.gap_may_be_unloaded_code = true}, no_pause), Next::keep_and_again);
  EXPECT_EQ(looks.after({.no_stack = true}, no_pause), Next::none);
  EXPECT_EQ(count(Looks(), {.gap_may_be_unloaded_code = true, .overdue = true}), 1);
}

TEST(Looks, ThreadOfAGroupNeedsAnotherLookForTheSameReasons) {
  EXPECT_FALSE(LookReasons{}.after_group());
  EXPECT_TRUE((LookReasons{.no_stack = true}.after_group(true)));
  EXPECT_TRUE((LookReasons{.lacks_runtime = true}.after_group(true)));
  EXPECT_TRUE((LookReasons{.gap_may_be_unloaded_code = true}.after_group()));
  EXPECT_FALSE((LookReasons{.gap_may_be_unloaded_code = true}.after_group(true)));
}

TEST(Looks, OnlyAThreadThatCanBeCopiedLaterHasAReason) {
  for (const bool follows : {false, true}) {
    EXPECT_TRUE(can_be_copied_later(CaptureFault::no_room, follows));
    EXPECT_TRUE(can_be_copied_later(CaptureFault::not_now, follows));
    EXPECT_EQ(can_be_copied_later(CaptureFault::overdue, follows), !follows);
    EXPECT_FALSE(can_be_copied_later(CaptureFault::not_suspended, follows));
    EXPECT_FALSE(can_be_copied_later(CaptureFault::off_stack, follows));
  }
}

TEST(MomentsOfADump, AreLimitedAndFewerIfTheyCostADeadline) {
  const auto taken = [](Moments moments, bool overdue) {
    int count = 0;
    for (; count < 100 && moments.another(); ++count) moments.took(overdue);
    return count;
  };
  EXPECT_EQ(taken(Moments(10, 1000), false), 8);
  EXPECT_EQ(taken(Moments(3000, 1000), false), 11);
  EXPECT_EQ(taken(Moments(3000, 1000), true), 2);
}

}  // namespace
}  // namespace mixwalk
