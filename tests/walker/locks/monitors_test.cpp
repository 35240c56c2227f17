#include "walker/locks/monitors.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kDomain = 0x2'0000'0000, kBlock = 0x2'1000'0000, kObject = 0x3'0000'1000;
constexpr std::uint64_t kEnter = 0, kPulse = 1;

// There are two threads, 0x10 (managed id 1) and 0x20 (managed id 2), each with a page of stack.
class Monitors : public testing::Test {
 protected:
  Monitors() {
    for (const std::uint32_t i : {1u, 2u}) {
      clr.clr_threads.push_back({thread(i), i * 0x10, i, kDomain});
      memory.put(thread(i), std::uint64_t{0});
      stacks.push_back({i * 0x10, stack(i), stack(i) + 4096, stack(i) + 0x100});
      memory.put(stack(i), std::uint64_t{0});
    }
    clr.objects_of[kObject] = "System.Object";
  }
  static std::uint64_t thread(std::uint32_t i) { return 0x2'2000'0000 + i * 0x1'0000; }
  static std::uint64_t stack(std::uint32_t i) { return 0x1'0000'0000 + i * 0x1'0000; }

  void add_block(std::uint64_t owner, bool held = true, std::uint32_t recursion = 1) {
    clr.sync_block_answers = {{{{kBlock, kObject, owner, recursion, held}}, 0}};
  }
  // Puts a thread's record of its wait, to which the runtime's Thread object points.
  void wait(std::uint32_t i, std::uint64_t kind, std::uint64_t at = 0x200) {
    memory.put(stack(i) + at, kBlock);
    memory.put(stack(i) + at + 8, kDomain);
    memory.put(stack(i) + at + 16, kind | 0xFFFF'FFFFull << 32);
    memory.put(thread(i) + 0x148, stack(i) + at);
  }
  void put_thin(std::uint64_t object, std::uint32_t header, std::uint32_t on_stack_of) {
    memory.put(object - 8, std::uint64_t{header} << 32);
    memory.put(object, std::uint64_t{0x2'4000'0000});
    memory.put(stack(on_stack_of) + 0x300, object);
  }
  std::vector<Lock> find() {
    FoundMonitors found = find_monitors(clr, memory, stacks, images);
    missing = found.missing;
    std::vector<Lock> locks;
    for (FoundMonitor& monitor : found.monitors) locks.push_back(monitor.lock);
    return locks;
  }
  static Lock held(std::uint32_t owner, std::vector<LockWaiter> waiters = {}, std::uint32_t recursion = 1) {
    return {.address = kObject, .type = "System.Object", .owner = owner, .held = true, .recursion = recursion,
            .waiters = std::move(waiters)};
  }

  test::FakeClrQuestions clr;
  test::PagedMemory memory;
  std::vector<ThreadStack> stacks;
  std::vector<Module> images;
  std::string missing;
};
using Locks = std::vector<Lock>;

TEST_F(Monitors, HeldAndWaitedFor) {
  add_block(thread(1), true, 3);
  wait(2, kEnter);
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20, false}}, 3)}));
  EXPECT_EQ(missing, "");
}

// Thread 1 begins a collection, and thread 2 is in a system call without having told the runtime so.
TEST_F(Monitors, APauseThatWaitsForAThread) {
  clr.clr_threads[0].pauses = clr.clr_threads[0].cooperative = true;
  clr.clr_threads[1].cooperative = true;
  EXPECT_EQ(find(), Locks{}) << "it runs, and so will stop";
  stacks[0].in_system_call = stacks[1].in_system_call = true;
  EXPECT_EQ(find(), (Locks{{.kind = LockKind::pause, .owner = 0x20, .held = true, .waiters = {{0x10}}}}));
  clr.clr_threads[0].pauses = false;
  EXPECT_EQ(find(), Locks{});
  clr.clr_threads[0].pauses = true;
  clr.clr_threads[1].cooperative = false;
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Monitors, HeldAndNotWaitedFor) {
  add_block(thread(1));
  EXPECT_EQ(find(), (Locks{held(0x10)}));
}

TEST_F(Monitors, ToBePulsed) {
  add_block(0, false, 0);
  wait(1, kPulse);
  wait(2, kPulse);
  EXPECT_EQ(find(), (Locks{{.address = kObject, .type = "System.Object", .waiters = {{0x10, true}, {0x20, true}}}}));
}

TEST_F(Monitors, HeldByAThreadThatHasEnded) {
  add_block(0x1234);
  EXPECT_EQ(find(), (Locks{{.address = kObject, .type = "System.Object", .held = true}}));
}

TEST_F(Monitors, NobodyHoldsItAnyMore) {
  add_block(0, false, 0);
  EXPECT_EQ(find(), Locks{});
}

TEST_F(Monitors, AnOwnerDoesNotWait) {
  add_block(thread(1));
  wait(1, kEnter);
  EXPECT_EQ(find(), (Locks{held(0x10)}));
}

TEST_F(Monitors, ARecordThatIsNoneIsNoWait) {
  add_block(thread(1));
  wait(2, kEnter);
  memory.put(stack(2) + 0x208, kDomain + 8);  // of another domain
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  wait(2, 2);  // this kind does not exist
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  wait(2, kEnter, 0x80);  // the thread has left that part of its stack
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  wait(2, kEnter);
  memory.put(thread(2) + 0x148, std::uint64_t{0});  // the thread does not report a wait
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  wait(2, kEnter);
  EXPECT_EQ(find(), (Locks{held(0x10, {{0x20, false}})}));
}

TEST_F(Monitors, ThinLockOnItsOwnersStack) {
  put_thin(kObject, 0x0002'0001, 1);
  EXPECT_EQ(find(), (Locks{held(0x10, {}, 3)}));
}

TEST_F(Monitors, WhatIsNoThinLock) {
  for (const std::uint32_t header : {0x0000'0000u, 0x0000'0002u, 0x0800'0001u, 0x1000'0001u, 0x0C00'0001u,
                                     0x8000'0001u, 0x0040'0001u}) {
    put_thin(kObject, header, 1);
    EXPECT_EQ(find(), Locks{}) << header;
  }
  put_thin(kObject, 1, 1);
  memory.put(kObject - 8, std::uint64_t{1} << 32 | 7);  // what is before an object's header is 0
  EXPECT_EQ(find(), Locks{});
  put_thin(kObject, 1, 1);
  clr.objects_of.clear();  // there is no object at that address
  EXPECT_EQ(find(), Locks{});
  clr.objects_of[kObject] = "System.Object";
  images = {{.base = kObject & ~0xFFFull, .size = 0x1'0000}};  // there is an image at that address
  EXPECT_EQ(find(), Locks{});
  images.clear();
  EXPECT_EQ(find().size(), 1u);
  memory.put(stack(1) + 0x300, std::uint64_t{0});
  memory.put(stack(2) + 0x300, kObject);  // another thread's stack
  EXPECT_EQ(find(), Locks{});
}

// The collector has moved the object, and the memory that it left looks as before.
TEST_F(Monitors, ThinLockWhereItsObjectWas) {
  put_thin(kObject, 1, 1);
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  clr.left_behind.insert(kObject);
  EXPECT_EQ(find(), Locks{});
  add_block(thread(1));  // the runtime itself names the owner
  put_thin(kObject, 2, 1);
  EXPECT_EQ(find(), (Locks{held(0x10)}));
}

TEST_F(Monitors, AManagedThreadThatTheLibraryDidNotListIsSaid) {
  add_block(thread(1));
  stacks[1].managed = true;
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  EXPECT_EQ(missing, "");
  clr.clr_threads.pop_back();
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  EXPECT_EQ(missing, "not all threads could be read");
}

TEST_F(Monitors, AManagedThreadWithoutAReadableStackIsSaid) {
  add_block(thread(1));
  stacks[1] = {.os_id = 0x20, .managed = true};
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  EXPECT_EQ(missing, "not all threads could be read");
}

TEST_F(Monitors, AnswersThatLie) {
  // The list leads back to its start, for ever.
  clr.sync_block_answers = {{{}, 2}, {{}, 1}};
  EXPECT_EQ(find(), Locks{});
  EXPECT_NE(missing, "");
  // There is no answer.
  clr.sync_block_answers.clear();
  EXPECT_EQ(find(), Locks{});
  EXPECT_EQ(missing, "the sync blocks could not be read");
  // The list has one block twice.
  const ClrSyncBlock block{kBlock, kObject, thread(1), 1, true};
  clr.sync_block_answers = {{{block, block}, 2}, {{block}, 0, true}};
  EXPECT_EQ(find(), (Locks{held(0x10)}));
  EXPECT_EQ(missing, "not all sync blocks could be read");
  // There are more blocks than the limit.
  clr.sync_block_answers.assign(1, {});
  for (std::uint64_t i = 0; i < 20; ++i) {
    clr.sync_block_answers[0].blocks.push_back({kBlock + i * 64, kObject + i * 64, thread(1), 1, true});
  }
  const FoundMonitors some = find_monitors(clr, memory, stacks, images, {.locks = 5});
  EXPECT_EQ(some.monitors.size(), 5u);
  EXPECT_EQ(some.missing, "there are too many");
  EXPECT_EQ(find_monitors(clr, memory, stacks, images, {.time = std::chrono::milliseconds(0)}).missing,
            "the time for it was over");
}

FoundMonitors one(Lock lock, std::uint64_t key = kBlock) { return {{{std::move(lock), key}}, ""}; }

TEST(AgreedMonitors, WhatBothLooksSay) {
  Lock lock{.address = kObject, .type = "A", .owner = 1, .held = true, .recursion = 2, .waiters = {{2}, {3}}};
  EXPECT_EQ(consistent_monitors(one(lock), one(lock)), one(lock));
  Lock moved = lock;
  moved.address += 0x1000;  // the collector has moved it
  EXPECT_EQ(consistent_monitors(one(lock), one(moved)), one(moved));
  EXPECT_TRUE(consistent_monitors(one(lock), one(lock, kBlock + 64)).monitors.empty());

  Lock other = lock;
  other.owner = 2;
  other.waiters = {{3}};
  EXPECT_TRUE(consistent_monitors(one(lock), one(other)).monitors.empty());  // the owner has changed
  other = lock;
  other.waiters = {{3}, {4}};
  other.recursion = 1;
  Lock both = lock;
  both.waiters = {{3}};
  both.recursion = 0;
  EXPECT_EQ(consistent_monitors(one(lock), one(other)), one(both));

  Lock waited{.address = kObject, .type = "A", .waiters = {{2, true}}};
  EXPECT_EQ(consistent_monitors(one(waited), one(waited)), one(waited));
  Lock pulsed = waited;
  pulsed.waiters[0].pulse = false;
  EXPECT_TRUE(consistent_monitors(one(waited), one(pulsed)).monitors.empty());
  Lock untyped = lock;
  untyped.type.clear();
  EXPECT_EQ(consistent_monitors(one(lock), one(untyped)), one(lock));
  EXPECT_EQ(consistent_monitors(one(untyped), one(lock)), one(lock));
  FoundMonitors half = one(lock);
  half.missing = "why";
  EXPECT_EQ(consistent_monitors(half, one(lock)).missing, "why");
  EXPECT_EQ(consistent_monitors(one(lock), half).missing, "why");
}

}  // namespace
}  // namespace mixwalk
