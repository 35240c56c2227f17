#include "walker/locks/callbacks.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr char kSpin[] = "System.Threading.SpinWait.SpinOnceCore(System.Int32)";
constexpr char kWaitForEnd[] =
    "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete(System.Int64)";
constexpr char kRuns[] = "System.Threading.CancellationTokenSource.ExecuteCallbackHandlers(System.Boolean)";

// Thread 0x10 waits for the end of a callback. Threads 0x20 and 0x30 run callbacks.
class Callbacks : public testing::Test, protected test::StandingProgram {
 protected:
  Callbacks() {
    add_thread(0x10, {kSpin, kWaitForEnd, "Orders.Close()"});
    for (const std::uint32_t os_id : {0x20u, 0x30u}) add_thread(os_id, {"Orders.Save()", kRuns, "Orders.Stop()"});
  }
  // A Registrations whose callback with this number runs on the thread with this managed id.
  std::uint64_t registrations(std::uint64_t id, std::uint64_t thread) {
    const std::uint64_t at = heap.object(type);
    heap.set(at, {"ExecutingCallbackId"}, id);
    heap.set(at, {"NextAvailableId"}, 80);
    return heap.set(at, {"ThreadIDExecutingCallbacks"}, thread);
  }
  // Leaves a word on the stack of the first thread, where the wait is up to the word 20.
  void leave(std::size_t at, std::uint64_t word) { heap.put(stack + 8 * at, word); }
  std::vector<Lock> find() {
    snapshot.locks.clear();
    add_callbacks(snapshot, target, clr);
    return snapshot.locks;
  }
  static Lock end_of(std::uint32_t owner, std::vector<LockWaiter> waiters) {
    return {.kind = LockKind::callback, .type = "System.Threading.CancellationToken", .owner = owner, .held = true,
            .waiters = std::move(waiters)};
  }

  const std::uint64_t type = heap.type("System.Threading.CancellationTokenSource+Registrations",
                                       {{"Source"}, {"NextAvailableId"}, {"ExecutingCallbackId"},
                                        {"ThreadIDExecutingCallbacks"}});
  const std::uint64_t stack = test::StandingTarget::kStack + 0x10 * 0x1'0000;
};
using Locks = std::vector<Lock>;

TEST_F(Callbacks, EndOnTheThreadThatRunsThem) {
  leave(4, registrations(71, 3));
  leave(6, 71);
  EXPECT_EQ(find(), Locks{end_of(0x30, {{0x10}})});
}

TEST_F(Callbacks, InARegister) {
  target.registers[Register::rsi] = registrations(71, 2);
  target.registers[Register::rdi] = 71;
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

TEST_F(Callbacks, OfSeveralWaitersAreOfOneEnd) {
  const std::uint64_t of = registrations(71, 2);
  leave(4, of);
  leave(6, 71);
  add_thread(0x40, {kSpin, kWaitForEnd, "Orders.Close()"}, {0, of, 71});
  EXPECT_EQ(find(), (Locks{end_of(0x20, {{0x10}, {0x40}})}));
}

// The callbacks that the waiting thread itself runs are on its stack as well.
TEST_F(Callbacks, OfTheThreadItselfAreNotAwaited) {
  leave(4, registrations(71, 2));
  leave(5, registrations(71, 1));
  leave(6, 71);
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
  leave(4, 0);
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Callbacks, OfTwoThatArePossibleAreOfNone) {
  leave(4, registrations(71, 2));
  leave(5, registrations(71, 3));
  leave(6, 71);
  EXPECT_EQ(find(), Locks{});
}

// The thread is about to go on.
TEST_F(Callbacks, ThatHaveEndedHoldNobodyUp) {
  const std::uint64_t of = registrations(72, 2);
  leave(4, of);
  leave(6, 71);
  EXPECT_EQ(find(), Locks{});
  heap.set(of, {"ExecutingCallbackId"}, 0);
  EXPECT_EQ(find(), Locks{});
  heap.set(of, {"ExecutingCallbackId"}, 71);
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

// The thread waits for a newer one, and sleeps for a moment before it looks again. Small numbers are everywhere.
TEST_F(Callbacks, ThatMayHaveBegunAfterTheAwaitedOneAreOfNone) {
  leave(4, registrations(71, 2));
  leave(6, 71);
  leave(7, 72);
  EXPECT_EQ(find(), Locks{});
  leave(7, 80);  // no callback has this number yet
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
}

TEST_F(Callbacks, OfAThreadThatRunsNoneAreNotKnown) {
  leave(4, registrations(71, 2));
  leave(6, 71);
  StackFrame& frame = snapshot.threads[1].stack.frames[1];
  frame.name = "System.Threading.CancellationTokenSource.Cancel()";
  EXPECT_EQ(find(), Locks{});
  for (const char* const runner : {"+CallbackNode.ExecuteCallback()",
                                   "+<>c.<ExecuteCallbackHandlers>b__36_0(System.Object)"}) {
    frame.name = std::string("System.Threading.CancellationTokenSource") + runner;
    EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
  }
  frame.trust = Trust::scan;
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Callbacks, OfAThreadThatIsNotInTheDumpAreNotKnown) {
  leave(4, registrations(71, 9));
  leave(6, 71);
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Callbacks, InCallersDoNotCount) {
  leave(4, 0);
  leave(21, registrations(71, 2));
  leave(6, 71);
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Callbacks, OnlyOfThreadsThatWaitThere) {
  leave(4, registrations(71, 2));
  leave(6, 71);
  snapshot.threads[0].stack.frames[1].name = "System.Threading.CancellationTokenSource+Registrations.EnterLock()";
  EXPECT_FALSE(has_callback_waits(snapshot));
  EXPECT_EQ(find(), Locks{});
}

// It spins, so its stack may differ, but not in what it waits for.
TEST_F(Callbacks, OfAThreadThatGoesOnMeanwhileAreNone) {
  const std::uint64_t of = registrations(71, 2);
  leave(4, of);
  leave(6, 71);
  target.live = true;
  int captures = 0;
  target.on_capture = [&] { leave(8, ++captures); };
  EXPECT_EQ(find(), Locks{end_of(0x20, {{0x10}})});
  captures = 0;
  target.on_capture = [&] {
    if (++captures == 1) leave(4, registrations(72, 2));
  };
  EXPECT_EQ(find(), Locks{});
  leave(4, of);
  target.on_capture = {};
  int runs = 0;
  clr.on_run = [&] {
    if (++runs == 4) heap.set(of, {"ExecutingCallbackId"}, 72);
  };
  EXPECT_EQ(find(), Locks{});
}

}  // namespace
}  // namespace mixwalk
