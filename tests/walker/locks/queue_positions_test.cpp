#include "walker/locks/queue_positions.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr char kEnter[] = "System.Threading.SemaphoreSlim.Wait(System.Int32, System.Threading.CancellationToken)";
constexpr char kTryAdd[] =
    "System.Collections.Concurrent.BlockingCollection<System.__Canon>.TryAddWithNoTimeValidation(System.__Canon, "
    "System.Int32, System.Threading.CancellationToken)";
constexpr char kAdd[] = "System.Collections.Concurrent.BlockingCollection<System.__Canon>.Add(System.__Canon)";

// Thread 0x10 waits for room in a collection, up to the word 24 of its stack.
class QueuePositions : public testing::Test, protected test::StandingProgram {
 protected:
  QueuePositions() {
    add_thread(0x10, {kEnter, kTryAdd, kAdd, "Orders.Put()"});
    collection = new_collection(queue);
    leave(3, collection);
    leave(4, semaphore_of(collection));
  }
  std::uint64_t new_segment(std::uint32_t length, std::uint32_t head) {
    const std::uint64_t at = heap.object(segment_type);
    heap.set(at, {"_slots"}, heap.array(slots, std::vector<std::uint64_t>(2 * length)));
    return heap.set(at, {"_headAndTail", "Head"}, head);
  }
  std::uint64_t new_collection(std::uint64_t of) {
    const std::uint64_t at = heap.object(collection_type);
    return heap.set(heap.set(at, {"_collection"}, of), {"_freeNodes"}, heap.object(semaphore_type));
  }
  std::uint64_t semaphore_of(std::uint64_t of) { return *target.memory_of.read_value<std::uint64_t>(of + 16); }
  void leave(std::size_t at, std::uint64_t word) { heap.put(stack + 8 * at, word); }
  std::uint64_t find() {
    snapshot.threads[0].queue_position = 0;
    add_queue_positions(snapshot, target, clr);
    return snapshot.threads[0].queue_position;
  }

  const std::uint64_t stack = test::StandingTarget::kStack + 0x10 * 0x1'0000;
  std::uint64_t ends = heap.value_type("PaddedHeadAndTail", {{"pad"}, {"Head"}, {"Tail"}});
  std::uint64_t segment_type =
      heap.type("System.Collections.Concurrent.ConcurrentQueueSegment<System.String>",
                {{"_slots"}, {"_headAndTail", ends}, {"_nextSegment"}});
  std::uint64_t slots = heap.array_type("Slot[]", 16);
  std::uint64_t queue_type = heap.type("System.Collections.Concurrent.ConcurrentQueue<System.String>", {{"_head"}});
  std::uint64_t semaphore_type = heap.type("System.Threading.SemaphoreSlim");
  std::uint64_t collection_type = heap.type("System.Collections.Concurrent.BlockingCollection<System.String>",
                                            {{"_collection"}, {"_freeNodes"}, {"_occupiedNodes"}});
  std::uint64_t segment = new_segment(32, 7);
  std::uint64_t queue = heap.set(heap.object(queue_type), {"_head"}, segment);
  std::uint64_t collection = 0;
};

TEST_F(QueuePositions, DifferAfterEachItem) {
  EXPECT_EQ(find(), 0x20'0000'0007u);
  heap.set(segment, {"_headAndTail", "Head"}, 0xFFFF'FFFF);
  EXPECT_EQ(find(), 0x20'FFFF'FFFFu);
  heap.set(queue, {"_head"}, new_segment(64, 7));
  EXPECT_EQ(find(), 0x40'0000'0007u);
}

TEST_F(QueuePositions, OfAThreadThatWaitsForAnItem) {
  heap.set(collection, {"_occupiedNodes"}, heap.object(semaphore_type));
  leave(4, *target.memory_of.read_value<std::uint64_t>(collection + 24));
  EXPECT_EQ(find(), 0x20'0000'0007u);
}

TEST_F(QueuePositions, WithTheCollectionInARegister) {
  leave(3, 0);
  EXPECT_EQ(find(), 0u);
  target.registers[Register::rsi] = collection;
  EXPECT_EQ(find(), 0x20'0000'0007u);
}

// The thread adds a collection to a collection.
TEST_F(QueuePositions, AreThoseOfTheCollectionWhoseSemaphoreIsThere) {
  const std::uint64_t item = new_collection(heap.set(heap.object(queue_type), {"_head"}, new_segment(64, 1)));
  leave(5, item);
  EXPECT_EQ(find(), 0x20'0000'0007u);
  leave(4, 0);
  EXPECT_EQ(find(), 0u);
}

TEST_F(QueuePositions, OfTwoCollectionsThatArePossibleAreOfNone) {
  const std::uint64_t other = new_collection(queue);
  leave(5, other);
  leave(6, semaphore_of(other));
  EXPECT_EQ(find(), 0u);
  clr.objects_of[collection] = "System.Collections.Concurrent.BlockingCollection<System.String>";
  EXPECT_EQ(find(), 0x20'0000'0007u) << "the other one is an old copy";
}

// Each thread that has added items to a bag has a queue.
TEST_F(QueuePositions, OfABagAreThoseOfAllItsQueues) {
  const std::uint64_t bag =
      heap.object(heap.type("System.Collections.Concurrent.ConcurrentBag<System.String>", {{"_workStealingQueues"}}));
  const std::uint64_t type = heap.type("WorkStealingQueue", {{"_headIndex"}, {"_tailIndex"}, {"_nextQueue"}});
  const std::uint64_t first = heap.object(type), second = heap.object(type);
  heap.set(collection, {"_collection"}, bag);
  EXPECT_EQ(find(), 0u) << "it is empty";
  heap.set(bag, {"_workStealingQueues"}, heap.set(first, {"_nextQueue"}, second));
  heap.set(heap.set(first, {"_headIndex"}, 3), {"_tailIndex"}, 4);
  heap.set(heap.set(second, {"_headIndex"}, 5), {"_tailIndex"}, 6);
  EXPECT_EQ(find(), 0x8'0000'000Au);
  heap.set(second, {"_nextQueue"}, first);
  EXPECT_EQ(find(), 0u) << "they lead to each other for ever";
  heap.set(second, {"_nextQueue"}, segment);
  EXPECT_EQ(find(), 0u) << "it leads to another object";
}

TEST_F(QueuePositions, OfOtherCollectionsAreNotKnown) {
  heap.set(collection, {"_collection"}, heap.object(heap.type("System.Collections.Concurrent.ConcurrentStack<T>")));
  EXPECT_EQ(find(), 0u);
  heap.set(collection, {"_collection"}, 0);
  EXPECT_EQ(find(), 0u);
}

TEST_F(QueuePositions, InCallersDoNotCount) {
  leave(3, 0);
  leave(40, collection);
  EXPECT_EQ(find(), 0u);
}

TEST_F(QueuePositions, OnlyOfThreadsThatWaitThere) {
  std::vector<StackFrame>& frames = snapshot.threads[0].stack.frames;
  const std::vector<StackFrame> waiting = frames;
  EXPECT_TRUE(has_collection_waits(snapshot));
  frames[1].name = frames[2].name = "Orders.Collection.Add()";
  EXPECT_FALSE(has_collection_waits(snapshot));
  frames = waiting;
  frames[0].trust = Trust::scan;
  EXPECT_FALSE(has_collection_waits(snapshot));
  frames = waiting;
  frames[0].name = "Orders.Semaphore.Wait()";
  EXPECT_FALSE(has_collection_waits(snapshot));
}

// It has got room, so its number must differ from that of each other dump.
TEST_F(QueuePositions, OfAThreadThatHasLeftItsWaitIsTheTime) {
  snapshot.unix_time_ms = 1'795'412'335'000;
  target.rip += 4;
  EXPECT_EQ(find(), snapshot.unix_time_ms);
  target.listed.clear();  // it has ended, or cannot be captured
  EXPECT_EQ(find(), 0u);
}

TEST_F(QueuePositions, OfAThreadThatIsBackAfterALook) {
  const std::uint64_t waits = target.rip;
  target.rip += 4;
  target.on_capture = [&] { target.rip = waits; };
  EXPECT_EQ(find(), 0x20'0000'0007u);
}

// As a look from inside names the methods of .NET 8 and 9.
TEST_F(QueuePositions, OfMethodsWithoutTypeArguments) {
  for (StackFrame& frame : snapshot.threads[0].stack.frames) {
    if (const std::size_t at = frame.name.find("<System.__Canon>"); at != frame.name.npos) frame.name.erase(at, 16);
  }
  EXPECT_EQ(find(), 0x20'0000'0007u);
}

TEST_F(QueuePositions, AreReadAgainIfACollectionMovedTheObjects) {
  const std::uint64_t moved = heap.object(collection_type);
  target.live = true;
  leave(3, moved);
  EXPECT_EQ(find(), 0u);
  int captures = 0;
  target.on_capture = [&] {
    if (++captures == 2) heap.set(heap.set(moved, {"_collection"}, queue), {"_freeNodes"}, semaphore_of(collection));
  };
  EXPECT_EQ(find(), 0x20'0000'0007u);
}

// Objects of wrong types, and those that lead to each other for ever.
TEST_F(QueuePositions, OfHostileMemoryAreNotKnown) {
  heap.set(segment, {"_nextSegment"}, segment);
  heap.set(segment, {"_slots"}, segment);
  EXPECT_EQ(find(), 0u);
  heap.set(queue, {"_head"}, queue);
  EXPECT_EQ(find(), 0u);
  heap.set(queue, {"_head"}, 0x9999);
  EXPECT_EQ(find(), 0u);
  heap.set(collection, {"_collection"}, collection);
  EXPECT_EQ(find(), 0u);
  heap.set(collection, {"_collection"}, queue);
  const std::uint64_t endless = new_segment(4, 1);
  heap.set(queue, {"_head"}, heap.set(endless, {"_nextSegment"}, endless));
  EXPECT_EQ(find(), 0x4'0000'0001u);
  const std::uint64_t array = heap.array(slots, {});
  heap.set(endless, {"_slots"}, array);
  EXPECT_EQ(find(), 0u) << "no slots";
  heap.put(array + 8, 0xFFFF'FFFF);
  EXPECT_EQ(find(), 0u) << "more slots than a segment has";
}

}  // namespace
}  // namespace mixwalk
