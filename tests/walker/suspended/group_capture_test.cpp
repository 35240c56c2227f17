#include "walker/suspended/group_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/builders/own_memory.h"

namespace mixwalk {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kSlots = 32;

// Threads whose stacks are arrays of this process. Each writes on its stack when it runs again.
class FakeGroup final : public ThreadGroup {
 public:
  struct Of {
    alignas(16) std::array<std::uint64_t, kSlots> stack{};
    std::size_t slot = 16;  // the slot to which Rsp points
    Suspend suspend = Suspend::done;
    bool readable = true;
    bool frozen = false;
    bool dispatching = false;  // the system is just sending it an exception
    std::uint64_t stops_in_ns = 0;      // how long GetThreadContext waits
    std::uint64_t suspended_in_ns = 0;  // how long SuspendThread takes
  };

  explicit FakeGroup(std::size_t count) : threads(count) {
    for (std::size_t i = 0; i < count; ++i) threads[i].stack.fill(i + 1);
  }

  void begin() noexcept override { did += "( "; }
  void end() noexcept override { did += ")"; }
  Suspend suspend(std::size_t place) noexcept override {
    did += "s" + std::to_string(place) + " ";
    threads[place].frozen = threads[place].suspend == Suspend::done;
    clock += threads[place].suspended_in_ns;
    return threads[place].suspend;
  }
  void resume(std::size_t place) noexcept override {
    did += "r" + std::to_string(place) + " ";
    run(threads[place]);
  }
  bool read_registers(std::size_t place, Registers& registers) noexcept override {
    did += "g" + std::to_string(place) + " ";
    Of& of = threads[place];
    clock += of.stops_in_ns;
    if (!of.readable) return false;
    registers.rip = 0x1000 + place;
    registers[Register::rsp] = address(place, of.slot);
    return true;
  }
  bool in_dispatch(std::size_t place) const noexcept override { return threads[place].dispatching; }
  StackLimits stack_limits(std::size_t place) const noexcept override {
    return {address(place, 0), address(place, kSlots)};
  }
  bool overdue(std::size_t) const noexcept override {
    if (++asked == late_at) {
      late = true;
      for (Of& of : threads) run(of);
    }
    return late;
  }
  std::uint64_t last_frozen_ns() const noexcept override { return late ? last_frozen : 0; }
  std::uint64_t now_ns() const noexcept override { return clock; }

  std::uint64_t address(std::size_t place, std::size_t slot) const noexcept {
    return reinterpret_cast<std::uint64_t>(threads[place].stack.data() + slot);
  }
  static void run(Of& of) {
    of.frozen = false;
    of.stack.fill(0xDEAD);
  }

  mutable std::vector<Of> threads;
  std::string did;
  int late_at = 0;  // the supervisor ends the group before that call of overdue(); 0 means never
  mutable int asked = 0;
  mutable bool late = false;
  std::uint64_t last_frozen = 1;  // the time of that freeze; the clock stays at 0 unless a thread makes it wait
  std::uint64_t clock = 0;
};

class GroupCaptureTest : public ::testing::Test {
 protected:
  explicit GroupCaptureTest(std::size_t count = 3) : group_(count), members_(count) {}

  std::uint64_t capture(std::size_t arena_bytes = 4096, std::uint64_t suspending_ns = 1'000) {
    return capture_group(group_, members_, std::span(arena_).first(arena_bytes), memory_, suspending_ns);
  }
  // Returns the word at the top of a copy, or 0 if there is no copy.
  std::uint64_t top(std::size_t place) {
    std::uint64_t word = 0;
    const RawSample& sample = members_[place].sample;
    return sample.stack.read(sample.context.rsp(), &word, sizeof word) ? word : 0;
  }
  std::vector<CaptureFault> faults() {
    std::vector<CaptureFault> all;
    for (const GroupMember& member : members_) all.push_back(member.sample.fault);
    return all;
  }

  test::OwnMemory memory_;
  FakeGroup group_;
  std::vector<GroupMember> members_;
  alignas(16) std::array<std::byte, 4096> arena_{};
};

TEST_F(GroupCaptureTest, TheLastOneIsCopiedBeforeTheFirstRuns) {
  capture();
  EXPECT_EQ(group_.did, "( s0 s1 s2 g0 g1 g2 r0 r1 r2 )");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(members_[i].sample.fault, CaptureFault::none);
    EXPECT_EQ(members_[i].sample.context.rip, 0x1000 + i);
    EXPECT_EQ(top(i), i + 1);
    EXPECT_EQ(members_[i].sample.stack.bytes().size(), 16 * sizeof(std::uint64_t));
  }
}

TEST_F(GroupCaptureTest, AThreadThatIsEndingKeepsTheOthersFromNothing) {
  group_.threads[0].suspend = Suspend::ending;
  group_.threads[1].readable = false;
  capture();
  EXPECT_EQ(group_.did, "( s0 s1 s2 g1 g2 r1 r2 )") << "what was not suspended is not resumed";
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::not_suspended, CaptureFault::not_suspended,
                                    CaptureFault::none));
  EXPECT_EQ(top(2), 3u);
}

TEST_F(GroupCaptureTest, AThreadOffItsStackIsNotCopied) {
  group_.threads[1].slot = kSlots;
  capture();
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::off_stack, CaptureFault::none));
}

TEST_F(GroupCaptureTest, AThreadThatIsBeingSentAnExceptionIsLeftToAnotherMoment) {
  group_.threads[1].dispatching = true;
  capture();
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::not_now, CaptureFault::none));
}

TEST_F(GroupCaptureTest, WhatFindsNoRoomIsSaid) {
  capture(400);  // 128 bytes of stack each, and room for their alignment
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::none, CaptureFault::no_room));
  EXPECT_EQ(top(0), 1u);
  EXPECT_EQ(top(1), 2u);
  EXPECT_TRUE(members_[2].sample.stack.bytes().empty());
}

// A later moment has no more room for a stack than this one, so the stack is cut now.
TEST_F(GroupCaptureTest, AStackThatIsLargerThanTheWholeArenaIsCut) {
  capture(64);
  EXPECT_EQ(members_[0].sample.fault, CaptureFault::none);
  EXPECT_TRUE(members_[0].sample.stack.cut());
  EXPECT_EQ(top(0), 1u);
  EXPECT_EQ(members_[1].sample.fault, CaptureFault::no_room);
}

// The group is asked whether the threads are still suspended: before the registers of each are read, and before and
// after each copy.
TEST_F(GroupCaptureTest, WhatIsCopiedAfterTheSupervisorLetTheGroupGoIsWorthNothing) {
  for (int late_at = 1; late_at <= 9; ++late_at) {
    FakeGroup again(3);
    again.late_at = late_at;
    capture_group(again, members_, arena_, memory_);
    for (std::size_t i = 0; i < 3; ++i) {
      // The question after a copy comes when the copy is complete, so a resume at that moment counts as late.
      const bool in_time = 3 + static_cast<int>(2 * (i + 1)) < late_at;
      EXPECT_EQ(members_[i].sample.fault, in_time ? CaptureFault::none : CaptureFault::overdue)
          << i << " of " << late_at;
      EXPECT_EQ(members_[i].sample.overdue, !in_time);
      if (in_time) {
        EXPECT_EQ(top(i), i + 1);
      }
    }
    EXPECT_TRUE(again.did.ends_with("r0 r1 r2 )")) << again.did;
  }
}

TEST_F(GroupCaptureTest, AThreadThatStandsWhereItStoodIsUnmoved) {
  capture();
  UnmovedStack last;
  last.keep(members_[1].sample);
  for (std::size_t i = 0; i < 3; ++i) group_.threads[i].stack.fill(i + 1);
  members_[1].last = &last;
  capture();
  EXPECT_FALSE(members_[0].sample.unmoved);
  EXPECT_TRUE(members_[1].sample.unmoved);
  group_.threads[1].stack.fill(77);
  capture();
  EXPECT_FALSE(members_[1].sample.unmoved);
}

// The thread runs on, and is not ending, so another moment can have a copy of it.
TEST_F(GroupCaptureTest, AThreadThatMayNotBeSuspendedNowIsLate) {
  group_.threads[1].suspend = Suspend::not_now;
  capture();
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::overdue, CaptureFault::none));
  EXPECT_TRUE(members_[1].sample.overdue);
  EXPECT_EQ(group_.did, "( s0 s1 s2 g0 g2 r0 r2 )");
}

TEST_F(GroupCaptureTest, WhoeverIsNotSuspendedInTimeIsLeftToAnotherMoment) {
  group_.threads[0].suspended_in_ns = 30;
  group_.threads[1].suspended_in_ns = 30;
  capture(4096, 50);
  EXPECT_EQ(group_.did, "( s0 s1 g0 g1 r0 r1 )");
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::none, CaptureFault::overdue));
  capture(4096, 60);
  EXPECT_THAT(faults(), ElementsAre(CaptureFault::none, CaptureFault::none, CaptureFault::none));
}

// The last thread stops 5 us late, and the supervisor resumed all threads after 2 us.
TEST_F(GroupCaptureTest, AThreadThatWasLetGoStoodUntilThen) {
  group_.threads[2].stops_in_ns = 5000;
  group_.last_frozen = 2000;
  group_.late_at = 4;
  capture();
  EXPECT_EQ(members_[0].sample.frozen_ns, 2000u);
  EXPECT_EQ(members_[1].sample.frozen_ns, 2000u);
}

// While the second thread is being stopped, the first one is already suspended, and the third one perhaps.
TEST_F(GroupCaptureTest, WaitingForAnotherThreadCountsAsFrozen) {
  group_.threads[1].stops_in_ns = 5000;
  const std::uint64_t frozen_ns = capture();
  EXPECT_EQ(frozen_ns, 5000u);
  EXPECT_EQ(members_[0].sample.frozen_ns, 5000u);
  EXPECT_EQ(members_[0].sample.stopping_ns, 0u);
  EXPECT_EQ(members_[1].sample.frozen_ns, 0u);
  EXPECT_EQ(members_[1].sample.stopping_ns, 5000u);
  EXPECT_EQ(members_[2].sample.frozen_ns, 5000u);
}

}  // namespace
}  // namespace mixwalk
