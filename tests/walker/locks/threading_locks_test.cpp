#include "walker/locks/threading_locks.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"
#include "tests/walker/target/standing_target.h"
#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kLock = 0x3'0000'1000, kEvent = 0x3'0000'2000, kTable = 0x2'4000'0000;
constexpr std::uint64_t kOtherLock = 0x3'0000'3000, kOtherEvent = 0x3'0000'4000;
constexpr std::uint64_t kStack = test::StandingTarget::kStack, kRip = test::StandingTarget::kRip;
constexpr char kEnter[] = "System.Threading.Lock.TryEnterSlow(System.Int32, System.Threading.Lock+ThreadId)";
constexpr char kWait[] = "System.Threading.WaitHandle.WaitOneNoCheck(System.Int32)";

StackFrame frame(FrameKind kind, std::uint64_t stack_pointer, const std::string& name) {
  StackFrame frame;
  frame.kind = kind;
  frame.address = kRip;
  frame.stack_pointer = stack_pointer;
  frame.name = name;
  return frame;
}

// Thread 0x10 holds the lock, 0x20 waits for it.
class ThreadingLocks : public testing::Test {
 protected:
  ThreadingLocks() {
    for (const std::uint32_t i : {1u, 2u, 3u}) {
      target.listed.push_back({.os_id = i * 0x10});
      clr.clr_threads.push_back({0x2'2000'0000ull + i * 0x1'0000, i * 0x10, i, 1});
      target.memory_of.put(stack(i), std::uint64_t{0});
    }
    for (const std::uint64_t object : {kLock, kEvent, kOtherLock, kOtherEvent}) target.memory_of.put(object, kTable);
    clr.locks_of[kLock] = {0x10, 2, true, kEvent};
    clr.locks_of[kOtherLock] = {0x20, 1, true, kOtherEvent};
    wait(2);
  }
  static std::uint64_t stack(std::uint32_t i) { return kStack + i * 0x10 * 0x1'0000; }

  void wait(std::uint32_t i) {
    Thread thread{.os_id = i * 0x10};
    thread.stack.frames = {frame(FrameKind::native, stack(i), "NtWaitForSingleObject"),
                           frame(FrameKind::stub, stack(i) + 0x100, "IL_STUB_PInvoke"),
                           frame(FrameKind::managed, stack(i) + 0x180, kWait),
                           frame(FrameKind::managed, stack(i) + 0x200, kEnter),
                           frame(FrameKind::managed, stack(i) + 0x300, "System.Threading.Lock.Enter()"),
                           frame(FrameKind::managed, stack(i) + 0x340, "Orders.Work()")};
    snapshot.threads.push_back(thread);
    put(i, 0x140, kLock);
    put(i, 0x1C8, kEvent);
  }
  void put(std::uint32_t i, std::uint64_t at, std::uint64_t word) { target.memory_of.put(stack(i) + at, word); }
  std::vector<Lock> find() {
    snapshot.locks.clear();
    snapshot.locks_missing.clear();
    clr.lock_questions.clear();
    add_threading_locks(snapshot, target, clr, limits);
    return snapshot.locks;
  }
  static Lock held(std::uint32_t owner, std::vector<LockWaiter> waiters, std::uint32_t recursion) {
    return {.kind = LockKind::threading_lock, .address = kLock, .type = "System.Threading.Lock", .owner = owner,
            .held = true, .recursion = recursion, .waiters = std::move(waiters)};
  }

  test::FakeClrQuestions clr;
  test::StandingTarget target;
  Snapshot snapshot;
  MonitorLimits limits;
};
using Locks = std::vector<Lock>;

TEST_F(ThreadingLocks, HeldAndWaitedFor) {
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  wait(3);
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}, {0x30}}, 2)}));
}

TEST_F(ThreadingLocks, InARegister) {
  put(2, 0x140, 0);
  EXPECT_EQ(find(), Locks{});
  target.registers[Register::rsi] = kLock;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
}

TEST_F(ThreadingLocks, BesideALockThatTheThreadHoldsItself) {
  put(2, 0x148, kOtherLock);
  put(2, 0x150, kOtherEvent);  // the thread also had to wait for this lock
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
}

TEST_F(ThreadingLocks, BesideALockThatItHasWaitedForBefore) {
  clr.locks_of[kOtherLock].owner = 0x30;
  put(2, 0x148, kOtherLock);  // nothing else on the stack belongs to this lock
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  put(2, 0x150, kOtherEvent);  // now it is not certain which of the two locks is meant
  for (const std::uint64_t lock : {kLock, kOtherLock}) clr.objects_of[lock] = "System.Threading.Lock";
  EXPECT_EQ(find(), Locks{});
}

// A collection has moved the lock. A slot that is not in use any more still leads to the old copy.
TEST_F(ThreadingLocks, BesideItsOwnOldCopy) {
  clr.locks_of[kOtherLock] = clr.locks_of[kLock];
  put(2, 0x148, kOtherLock);
  for (const std::uint64_t lock : {kLock, kOtherLock}) clr.objects_of[lock] = "System.Threading.Lock";
  clr.left_behind = {kOtherLock};
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  clr.left_behind = {};
  EXPECT_EQ(find(), Locks{});
}

TEST_F(ThreadingLocks, OfCallersFurtherUpIsNone) {
  put(2, 0x140, 0);
  put(2, 0x328, kLock);
  EXPECT_EQ(find(), Locks{});
  put(2, 0x318, kLock);  // the place where TryEnterSlow keeps its arguments
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
}

TEST_F(ThreadingLocks, WhoseOwnerIsUnknownOrNobody) {
  clr.locks_of[kLock].owner = 7;  // the owner is a thread that has ended
  EXPECT_EQ(find(), (Locks{held(0, {{0x20}}, 0)}));
  clr.locks_of[kLock] = {0, 0, false, kEvent};
  Lock nobody = held(0, {{0x20}}, 0);
  nobody.held = false;
  EXPECT_EQ(find(), Locks{nobody});
  clr.locks_of[kLock] = {0x20, 1, true, kEvent};  // the waiter itself has got the lock
  EXPECT_EQ(find(), Locks{});
}

// It is known only for these versions how the lock names its owner.
TEST_F(ThreadingLocks, OfAVersionThatIsNotKnown) {
  target.runtime_of.major = 9;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  target.runtime_of.major = 11;
  EXPECT_EQ(find(), (Locks{held(0, {{0x20}}, 0)}));
}

// Thread 0x20 waits for a ReaderWriterLockSlim. Its counters are at kLock + 0x40 and so on.
class ReaderWriterLocks : public ThreadingLocks {
 protected:
  ReaderWriterLocks() {
    std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
    frames[3].name = "System.Threading.ReaderWriterLockSlim.WaitOnEvent(System.Threading.EventWaitHandle)";
    frames[4].name = "System.Threading.ReaderWriterLockSlim.EnterWriteLock()";
    clr.locks_of[kLock] = by(1);
    put(2, 0x1C8, kLock + 0x44);
  }
  static ClrLock by(std::uint32_t managed_id) {
    return {managed_id, 0, true, {kLock + 0x40, kLock + 0x44, kLock + 0x48, kLock + 0x4C}, true};
  }
  static Lock expected(std::uint32_t owner) {
    Lock lock = held(owner, {{0x20}}, 0);
    lock.type = "System.Threading.ReaderWriterLockSlim";
    return lock;
  }
};

TEST_F(ReaderWriterLocks, NameTheThreadThatWritesByItsManagedId) {
  for (const std::uint32_t version : {8u, 9u, 10u}) {
    target.runtime_of.major = static_cast<decltype(target.runtime_of.major)>(version);
    EXPECT_EQ(find(), Locks{expected(0x10)}) << version;
  }
  target.runtime_of.major = 11;
  EXPECT_EQ(find(), Locks{expected(0)});
}

TEST_F(ReaderWriterLocks, DoNotNameThreadsThatRead) {
  clr.locks_of[kLock] = by(0);
  EXPECT_EQ(find(), Locks{expected(0)});
  clr.locks_of[kLock] = by(7);  // the thread has ended
  EXPECT_EQ(find(), Locks{expected(0)});
}

TEST_F(ReaderWriterLocks, WhoseCountersTheThreadDoesNotKeepAreNotWaitedFor) {
  put(2, 0x1C8, kLock + 0x50);
  EXPECT_EQ(find(), Locks{});
  put(2, 0x1C8, kLock + 0x4C);
  EXPECT_EQ(find(), Locks{expected(0x10)});
  clr.locks_of[kLock] = by(2);  // the thread has got it
  EXPECT_EQ(find(), Locks{});
}

// Thread 0x20 waits for a SemaphoreSlim, in the monitor of the object kEvent. It has entered another one before.
class Semaphores : public ThreadingLocks {
 protected:
  Semaphores() {
    std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
    frames[2].name = "System.Threading.Monitor.Wait(System.Object, System.Int32)";
    frames[3].name = "System.Threading.SemaphoreSlim.WaitUntilCountOrTimeout(System.Int32)";
    frames[4].name = "System.Threading.SemaphoreSlim.Wait()";
    clr.locks_of[kLock] = {.held = true, .kept = {kEvent}, .semaphore = true};
    clr.locks_of[kOtherLock] = {.held = true, .kept = {kOtherEvent}, .semaphore = true};
    for (const std::uint64_t at : {0x148, 0x150}) put(2, at, at == 0x148 ? kOtherLock : kOtherEvent);
  }
  std::vector<Lock> find_with(const Lock& monitor) {
    snapshot.locks = {monitor};
    add_threading_locks(snapshot, target, clr, limits);
    return snapshot.locks;
  }
  static Lock expected() {
    return {.kind = LockKind::semaphore, .address = kLock, .type = "System.Threading.SemaphoreSlim", .held = true,
            .waiters = {{0x20}}};
  }
};

TEST_F(Semaphores, AreWaitedForInTheirMonitor) {
  const Lock monitor{.address = kEvent, .type = "System.Runtime.CompilerServices.StrongBox", .waiters = {{0x20, true}}};
  EXPECT_EQ(find_with(monitor), Locks{expected()});
  Lock others = monitor;
  others.waiters.push_back({0x30, true});
  const Lock left{.address = kEvent, .type = monitor.type, .waiters = {{0x30, true}}};
  EXPECT_EQ(find_with(others), (Locks{left, expected()}));
  const Lock elsewhere{.address = 0x9000, .waiters = {{0x20, true}}};
  EXPECT_EQ(find_with(elsewhere), Locks{elsewhere});
}

TEST_F(Semaphores, WithoutTheMonitorsOneMustBeTheOnlyOne) {
  EXPECT_EQ(find(), Locks{});
  put(2, 0x148, 0);
  EXPECT_EQ(find(), Locks{expected()});
  clr.locks_of[kLock].semaphore = false;
  EXPECT_EQ(find(), Locks{});
}

// The wait goes through a SynchronizationContext that has asked to wait itself.
TEST_F(Semaphores, MayBeWaitedForThroughAContext) {
  put(2, 0x148, 0);
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  frames.insert(frames.begin() + 2, frame(FrameKind::managed, stack(2) + 0x160,
                                          "Hangs.AskedDesk.Wait(System.IntPtr[], System.Boolean, System.Int32)"));
  EXPECT_EQ(find(), Locks{expected()});
  frames[2].name = "Hangs.AskedDesk.Work()";
  EXPECT_EQ(find(), Locks{});
}

TEST_F(ThreadingLocks, ThatNobodyHasWaitedForIsNone) {
  clr.locks_of[kLock].kept = {};
  EXPECT_EQ(find(), Locks{});
}

TEST_F(ThreadingLocks, OfAThreadThatSpinsOrRuns) {
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  const std::vector<StackFrame> waiting = frames;
  frames[2].name = "System.Threading.Thread.SpinWait(System.Int32)";
  EXPECT_EQ(find(), Locks{});
  frames[2].name = "Orders.Wait()";
  EXPECT_EQ(find(), Locks{});
  frames = waiting;
  frames[3].name = "System.Threading.Monitor.Enter(System.Object)";
  EXPECT_EQ(find(), Locks{});
  frames = waiting;
  frames[1].kind = FrameKind::gap;
  EXPECT_EQ(find(), Locks{});
  frames = waiting;
  target.rip = kRip + 2;  // the thread has continued since
  EXPECT_EQ(find(), Locks{});
  target.rip = kRip;
  EXPECT_EQ(find().size(), 1u);
}

// A collection is in progress and has marked the lock.
TEST_F(ThreadingLocks, MarkedByTheCollector) {
  target.memory_of.put(kLock, kTable | 1);
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
}

TEST_F(ThreadingLocks, AfterTheTime) {
  limits.time = std::chrono::milliseconds(0);
  EXPECT_EQ(find(), Locks{});
  EXPECT_EQ(snapshot.locks_missing, "the time for it was over");
  EXPECT_EQ(clr.lock_questions, std::vector<std::size_t>{});
  limits = {};
  EXPECT_EQ(find().size(), 1u);
  EXPECT_EQ(snapshot.locks_missing, "");
  snapshot.locks_missing = "why";
  add_threading_locks(snapshot, target, clr, {.time = std::chrono::milliseconds(0)});
  EXPECT_EQ(snapshot.locks_missing, "why");
}

TEST_F(ThreadingLocks, OfMoreThreadsThanAreCapturedAgain) {
  wait(3);
  limits.waiters = 2;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}, {0x30}}, 2)}));
  EXPECT_EQ(snapshot.locks_missing, "");
  limits.waiters = 1;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  EXPECT_EQ(snapshot.locks_missing, "there are too many");
}

// If only some of a thread's objects would be asked about, nothing can be said about the thread.
TEST_F(ThreadingLocks, AmongMoreObjectsThanAreAskedAbout) {
  clr.locks_of[kOtherLock].owner = 0x10;
  wait(3);
  for (const std::uint64_t at : {0x140, 0x1C8}) put(3, at, 0);
  put(3, 0x148, kOtherLock);
  put(3, 0x150, kOtherEvent);
  limits.objects = 4;
  EXPECT_EQ(find().size(), 2u);
  EXPECT_EQ(snapshot.locks_missing, "");
  put(3, 0x158, kLock);  // this object is already asked about
  EXPECT_EQ(find().size(), 2u);
  limits.objects = 3;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  EXPECT_EQ(snapshot.locks_missing, "there are too many");
  put(2, 0x158, kEvent + 0x800);
  target.memory_of.put(kEvent + 0x800, kTable);
  put(2, 0x160, kOtherEvent);  // now the first event does not fit, and the second does
  put(3, 0x158, 0);
  EXPECT_EQ(find().size(), 1u);
  EXPECT_EQ(find().front().address, kOtherLock);
}

TEST_F(ThreadingLocks, AmongMoreObjectsThanOneQuestionTakes) {
  constexpr std::uint64_t kObjects = 0x4'0000'0000, kEach = 1900;
  target.stack_bytes = 4 * 4096;
  std::uint64_t object = kObjects;
  wait(3);
  wait(1);
  for (std::uint32_t i : {1u, 2u, 3u}) {
    for (std::uint64_t page = 1; page < 4; ++page) put(i, page * 4096, 0);
    for (std::uint64_t n = 0; n < kEach; ++n, object += 8) {
      put(i, 0x300 + n * 8, object);
      target.memory_of.put(object, kTable);
    }
  }
  for (Thread& thread : snapshot.threads) thread.stack.frames[4].stack_pointer += 8 * kEach;
  clr.locks_of[kLock].owner = 7;
  EXPECT_EQ(find(), (Locks{held(0, {{0x10}, {0x20}, {0x30}}, 0)}));
  EXPECT_EQ(clr.lock_questions, (std::vector<std::size_t>{kMaxAsked, 3 * kEach + 2 - kMaxAsked, 1}));
}

TEST_F(ThreadingLocks, InMotionAreLeftOut) {
  target.live = true;
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20}}, 2)}));
  // The owner changes between the two readings.
  int runs = 0;
  clr.on_run = [&] { clr.locks_of[kLock].owner = ++runs % 2 == 0 ? 0x30 : 0x10; };
  EXPECT_EQ(find(), Locks{});
  clr.locks_of[kLock].owner = 0x10;
  // The waiter leaves its wait and begins another one.
  clr.on_run = [&] { put(2, 0x1D0, 5); };
  EXPECT_EQ(find(), Locks{});
  // The collector moves the lock.
  clr.on_run = [&] { clr.locks_of.erase(kLock); };
  EXPECT_EQ(find(), Locks{});
}

}  // namespace
}  // namespace mixwalk
