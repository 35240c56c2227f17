#include "walker/locks/joins.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr char kJoin[] = "System.Threading.Thread.Join(System.Int32)";

// Threads 0x10, 0x20 and 0x30; the first one waits for the end of another one.
class Joins : public testing::Test, protected test::StandingProgram {
 protected:
  Joins() {
    add_thread(0x10, {kJoin, "System.Threading.Thread.Join()", "Orders.Stop()"});
    for (const std::uint32_t os_id : {0x20u, 0x30u}) add_thread(os_id, {"Orders.Work()"});
  }
  // Leaves a pointer on the stack of the first thread, which is in Join up to the word 20.
  void leave(std::size_t at, std::uint64_t word) { heap.put(stack + 8 * at, word); }
  void join(std::size_t thread) {
    leave(3, clr.clr_threads[thread].address);
    leave(5, clr.clr_threads[thread].object);
  }
  std::vector<Lock> find() {
    snapshot.locks.clear();
    add_joins(snapshot, target, clr);
    return snapshot.locks;
  }
  static Lock end_of(std::uint32_t owner, std::vector<LockWaiter> waiters) {
    return {.kind = LockKind::thread_end, .owner = owner, .held = true, .waiters = std::move(waiters)};
  }

  const std::uint64_t stack = test::StandingTarget::kStack + 0x10 * 0x1'0000;
};
using Locks = std::vector<Lock>;

TEST_F(Joins, WaitForTheEndOfTheThread) {
  join(2);
  leave(6, clr.clr_threads[0].object);  // its own, which the runtime has as the current one
  leave(7, clr.clr_threads[0].address);
  EXPECT_EQ(find(), Locks{end_of(0x30, {{0x10}})});
}

// Windows' wait chains have already said it.
TEST_F(Joins, ThatTheSystemKnowsAreThereOnce) {
  join(2);
  snapshot.locks = {end_of(0x30, {{0x10}})};
  add_joins(snapshot, target, clr);
  EXPECT_EQ(snapshot.locks, Locks{end_of(0x30, {{0x10}})});
}

TEST_F(Joins, OfSeveralThreadsAreOfOneEnd) {
  join(2);
  add_thread(0x40, {kJoin, "Orders.Stop()"}, {clr.clr_threads[2].object, clr.clr_threads[2].address});
  EXPECT_EQ(find(), (Locks{end_of(0x30, {{0x10}, {0x40}})}));
}

TEST_F(Joins, InARegister) {
  leave(5, clr.clr_threads[1].object);
  target.registers[Register::rsi] = clr.clr_threads[1].address;
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

TEST_F(Joins, WithOnlyOneOfTheTwoProveNothing) {
  leave(5, clr.clr_threads[1].object);
  leave(6, clr.clr_threads[2].address);
  EXPECT_EQ(find(), Locks{});
  join(1);
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

TEST_F(Joins, OfTwoThatArePossibleAreOfNone) {
  join(1);
  leave(8, clr.clr_threads[2].object);
  leave(9, clr.clr_threads[2].address);
  EXPECT_EQ(find(), Locks{});
  clr.clr_threads[2].os_id = 0;  // it has ended, and may be the one
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Joins, OfAThreadThatHasEndedOrIsLeftOutAreNone) {
  join(2);
  clr.clr_threads[2].os_id = 0;
  EXPECT_EQ(find(), Locks{});
  clr.clr_threads[2].os_id = 0x50;
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Joins, OfItselfAreNone) {
  join(0);
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Joins, InCallersDoNotCount) {
  leave(3, clr.clr_threads[1].address);
  leave(21, clr.clr_threads[1].object);
  EXPECT_EQ(find(), Locks{});
  leave(19, clr.clr_threads[1].object);  // where Join keeps its arguments
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

TEST_F(Joins, OnlyOfThreadsThatWaitThere) {
  join(1);
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  const std::vector<StackFrame> waiting = frames;
  for (const char* const other : {"Orders.Wait()", "System.Threading.Monitor.Wait(System.Object)"}) {
    frames[0].name = frames[1].name = other;
    EXPECT_FALSE(has_joins(snapshot)) << other;
  }
  frames = waiting;
  frames[0].trust = Trust::scan;
  EXPECT_FALSE(has_joins(snapshot));
  frames = waiting;
  frames.insert(frames.begin(), frames.front());
  frames[0].name = "Orders.Desk.Wait(System.IntPtr[], System.Boolean, System.Int32)";
  EXPECT_TRUE(has_joins(snapshot));
  frames[0].name = "Orders.Desk.Work()";  // what a wait has called
  EXPECT_FALSE(has_joins(snapshot));
  frames.resize(2);
  EXPECT_FALSE(has_joins(snapshot));
}

// The thread goes on while the runtime is asked.
TEST_F(Joins, OfAThreadThatHasMovedAreNone) {
  join(1);
  target.live = true;
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
  int captures = 0;
  target.on_capture = [&] {
    if (++captures == 1) leave(4, 1);
  };
  EXPECT_EQ(find(), Locks{});
}

}  // namespace
}  // namespace mixwalk
