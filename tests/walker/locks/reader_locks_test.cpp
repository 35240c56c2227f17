#include "walker/locks/reader_locks.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

// Threads 0x10 and 0x20 have lists of the locks that they have entered. Another thread waits for lock number 7.
class ReaderLocks : public testing::Test, protected test::StandingProgram {
 protected:
  ReaderLocks() {
    lock = heap.object(heap.type("System.Threading.ReaderWriterLockSlim",
                                 {{"_lockID"}, {"_upgradeLockOwnerId"}, {"_owners"}}));
    heap.set(lock, {"_owners"}, 0x4000'0002);
    heap.set(lock, {"_lockID"}, 7);
    heap.set(lock, {"_upgradeLockOwnerId"}, 0xFFFF'FFFF);
    add_thread(0x10, {});
    add_thread(0x20, {});
    snapshot.locks = {{.kind = LockKind::threading_lock,
                       .address = lock,
                       .type = "System.Threading.ReaderWriterLockSlim",
                       .held = true,
                       .waiters = {{0x30}}}};
  }
  std::uint64_t count(std::uint64_t number, std::uint64_t readers, std::uint64_t next = 0) {
    const std::uint64_t at = heap.object(count_type);
    heap.set(heap.set(at, {"lockID"}, number), {"next"}, next);
    return heap.set(at, {"readercount"}, readers);
  }
  // The thread's static references: those of one type have the list. Returns the address of the ThreadLocalData.
  std::uint64_t give_list(std::size_t thread, std::uint64_t list) {
    const std::uint64_t references = heap.array_type("System.Object[]"), address = clr.clr_threads[thread].address;
    const std::uint64_t statics = heap.array(references, {0, heap.array(references, {list})});
    const std::uint64_t data = heap.room(40);
    heap.put(data, 64);
    heap.put(data + 8, statics);
    heap.put(data + 24, address);
    heap.put(address + 0x100, data);
    return data;
  }
  // The same in .NET 8, where a word of the thread leads to a table of arrays. Returns the address of the first bucket.
  std::uint64_t give_table(std::size_t thread, std::uint64_t list) {
    const std::uint64_t references = heap.array_type("System.Object[]");
    const std::uint64_t table = heap.room(8), bucket = heap.room(24), handle = heap.room(8);
    heap.put(handle, heap.array(references, {0, list, 0}));
    heap.put(bucket + 8, 3);
    heap.put(bucket + 16, handle);
    heap.put(table, bucket);
    heap.put(clr.clr_threads[thread].address + 0x200, table);
    return bucket;
  }
  std::vector<std::uint32_t> sharers() {
    snapshot.locks[0].sharers.clear();
    add_readers(snapshot, target, clr);
    return snapshot.locks[0].sharers;
  }
  using Ids = std::vector<std::uint32_t>;

  std::uint64_t lock = 0;
  std::uint64_t count_type =
      heap.type("System.Threading.ReaderWriterCount", {{"lockID"}, {"readercount"}, {"next"}});
};

TEST_F(ReaderLocks, AreThoseWithAnEntryInTheirList) {
  give_list(1, count(3, 1, count(7, 1)));
  EXPECT_EQ(sharers(), Ids{0x20});
  EXPECT_EQ(snapshot.locks[0].recursion, 2u);
  give_list(0, count(7, 2));
  EXPECT_EQ(sharers(), (Ids{0x10, 0x20}));
}

TEST_F(ReaderLocks, ThatTheyHaveLeftAreNone) {
  give_list(0, count(7, 0));
  give_list(1, count(8, 1));
  EXPECT_EQ(sharers(), Ids{});
}

TEST_F(ReaderLocks, TheDataOfAnotherThreadDoesNotCount) {
  const std::uint64_t data = give_list(0, count(7, 1));
  heap.put(data + 24, clr.clr_threads[1].address);
  EXPECT_EQ(sharers(), Ids{});
}

TEST_F(ReaderLocks, OfNet8AreThoseWithAnEntryInTheirTable) {
  const std::uint64_t first = give_table(0, count(3, 1, count(7, 1)));
  give_table(1, count(7, 0));
  EXPECT_EQ(sharers(), Ids{0x10});
  heap.put(first, give_table(1, 0));  // a second bucket
  EXPECT_EQ(sharers(), Ids{0x10});
  heap.put(first + 8, 4);  // the array has another length
  EXPECT_EQ(sharers(), Ids{});
}

// The Thread of another thread lies behind that of a thread without static references.
TEST_F(ReaderLocks, TheTableOfTheNextThreadDoesNotCount) {
  give_table(1, count(7, 1));
  const std::uint64_t table = heap.room(8);
  heap.put(table, give_table(1, count(7, 1)));
  heap.put(clr.clr_threads[0].address + 0x300, table);
  EXPECT_EQ(sharers(), Ids{0x20});
}

TEST_F(ReaderLocks, ABucketThatLeadsToItselfEnds) {
  const std::uint64_t bucket = give_table(0, count(7, 1));
  heap.put(bucket, bucket);
  EXPECT_EQ(sharers(), Ids{0x10});
}

TEST_F(ReaderLocks, AThreadThatMayBeginToWriteReads) {
  heap.set(lock, {"_upgradeLockOwnerId"}, 2);  // a managed id
  give_list(0, count(7, 1));
  EXPECT_EQ(sharers(), (Ids{0x10, 0x20}));
}

// Thread 0x20 waits until thread 0x10 has left, so that it can write.
TEST_F(ReaderLocks, AThreadThatAsksToWriteLaterWaitsForTheOneThatMay) {
  heap.set(lock, {"_upgradeLockOwnerId"}, 2);
  give_list(0, count(7, 1));
  const std::string slim = "System.Threading.ReaderWriterLockSlim.";
  add_thread(0x30, {slim + "WaitOnEvent()", slim + "TryEnterUpgradeableReadLockCore()", "Orders.Put()"});
  const Lock readers{.kind = LockKind::threading_lock, .address = lock,
                     .type = "System.Threading.ReaderWriterLockSlim", .held = true, .recursion = 2,
                     .waiters = {{0x20}}, .sharers = {0x10, 0x20}};
  const Lock turn{.kind = LockKind::threading_lock, .address = lock, .type = readers.type, .owner = 0x20, .held = true,
                  .waiters = {{0x30}}};
  snapshot.locks[0].waiters = {{0x20}, {0x30}};
  add_readers(snapshot, target, clr);
  EXPECT_EQ(snapshot.locks, (std::vector<Lock>{readers, turn}));

  snapshot.locks = {readers};
  snapshot.locks[0].sharers.clear();
  snapshot.locks[0].waiters = {{0x30}};
  add_readers(snapshot, target, clr);
  EXPECT_EQ(snapshot.locks, std::vector<Lock>{turn}) << "nobody waits for the readers";

  snapshot.locks = {readers};
  snapshot.locks[0].sharers.clear();
  snapshot.locks[0].waiters = {{0x30}};
  heap.set(lock, {"_upgradeLockOwnerId"}, 0xFFFF'FFFF);
  add_readers(snapshot, target, clr);
  ASSERT_EQ(snapshot.locks.size(), 1u);
  EXPECT_EQ(snapshot.locks[0].owner, 0u) << "it waits for a thread that waits to write";
}

TEST_F(ReaderLocks, WithAnOwnerHaveNoReaders) {
  give_list(0, count(7, 1));
  snapshot.locks[0].owner = 0x20;
  EXPECT_EQ(sharers(), Ids{});
}

TEST_F(ReaderLocks, AListThatLeadsToItselfEnds) {
  const std::uint64_t first = count(7, 1);
  give_list(0, heap.set(first, {"next"}, first));
  EXPECT_EQ(sharers(), Ids{0x10});
}

}  // namespace
}  // namespace mixwalk
