#include "walker/locks/thread_pool.h"

#include <gtest/gtest.h>

#include "tests/walker/locks/standing_program.h"

namespace mixwalk {
namespace {

constexpr char kDispatch[] = "System.Threading.ThreadPoolWorkQueue.Dispatch()";

// Two workers. The pool's objects are on their stacks.
class ThreadPool : public testing::Test, protected test::StandingProgram {
 protected:
  ThreadPool() {
    const std::uint64_t data = heap.value_type("ThreadCounts", {{"_data"}});
    const std::uint64_t separated = heap.value_type("CacheLineSeparated", {{"pad"}, {"counts", data}});
    pool = heap.object(heap.type("System.Threading.PortableThreadPool",
                                 {{"_minThreads"}, {"_maxThreads"}, {"_separated", separated}}));
    heap.set(pool, {"_separated", "counts", "_data"}, 0x0004'0003'0002ull);
    heap.set(pool, {"_minThreads"}, 2);
    heap.set(pool, {"_maxThreads"}, 32767);
    ends = heap.value_type("PaddedHeadAndTail", {{"Head"}, {"Tail"}});
    segment_type = heap.type("Segment", {{"_slots"}, {"_headAndTail", ends}, {"_frozenForEnqueues"}, {"_nextSegment"}});
    queue = heap.object(heap.type("System.Threading.ThreadPoolWorkQueue",
                                  {{"workItems"}, {"highPriorityWorkItems"}, {"_assignableWorkItemQueues"}}));
    add_thread(0x10, {"Wait()", kDispatch}, {pool, queue});
  }
  std::uint64_t segment(const std::vector<std::uint64_t>& items, std::uint32_t head, std::uint32_t length,
                        std::uint64_t next = 0) {
    std::vector<std::uint64_t> words(2 * length);
    for (std::size_t i = 0; i < items.size(); ++i) words[(head + i) % length * 2] = items[i];
    const std::uint64_t at = heap.object(segment_type);
    heap.set(at, {"_slots"}, heap.array(slots, words));
    heap.set(at, {"_headAndTail", "Head"}, head);
    heap.set(at, {"_headAndTail", "Tail"}, head + items.size());
    return heap.set(at, {"_nextSegment"}, next);
  }
  std::uint64_t concurrent_queue(std::uint64_t head) { return heap.set(heap.object(queue_type), {"_head"}, head); }
  // The queue of one thread.
  std::uint64_t local(const std::vector<std::uint64_t>& items) {
    const std::uint64_t at = heap.object(local_type);
    heap.set(at, {"m_array"}, heap.array(references, items));
    heap.set(at, {"m_tailIndex"}, items.size());
    return heap.set(heap.set(heap.object(locals_type), {"workStealingQueue"}, at), {"workQueue"}, queue);
  }
  std::uint64_t item(const std::string& type) { return heap.object(heap.type(type)); }
  const ThreadPoolState& read() {
    snapshot.pool = {};
    add_thread_pool(snapshot, target, clr);
    return snapshot.pool;
  }
  using Items = std::vector<ThreadPoolState::Item>;

  std::uint64_t pool = 0, queue = 0, ends = 0, segment_type = 0;
  std::uint64_t slots = heap.array_type("Slot[]", 16), references = heap.array_type("System.Object[]");
  std::uint64_t queue_type = heap.type("ConcurrentQueue", {{"_head"}});
  std::uint64_t local_type = heap.type("WorkStealingQueue", {{"m_array"}, {"m_headIndex"}, {"m_tailIndex"}});
  std::uint64_t locals_type =
      heap.type("System.Threading.ThreadPoolWorkQueueThreadLocals", {{"workStealingQueue"}, {"workQueue"}});
};

TEST_F(ThreadPool, HasItsCountsInOneWord) {
  EXPECT_EQ(read(), (ThreadPoolState{.queued = 0, .workers = 3, .working = 2, .goal = 4, .min = 2, .max = 32767}));
}

TEST_F(ThreadPool, WithoutThreadsIsUnknown) {
  snapshot.threads[0].stack.frames[1].name = "System.Threading.ThreadPool.QueueUserWorkItem()";
  EXPECT_FALSE(read().known());
}

TEST_F(ThreadPool, ItsQueueIsAListOfRings) {
  const std::uint64_t a = item("A"), b = item("B");
  const std::uint64_t last = segment({b, b}, 0, 4);
  heap.set(queue, {"workItems"}, concurrent_queue(segment({a, a, b}, 6, 4, last)));
  heap.set(queue, {"highPriorityWorkItems"}, concurrent_queue(segment({b}, 1, 2)));
  EXPECT_EQ(read().queued, 6);
  EXPECT_EQ(read().items, (Items{{"B", 4}, {"A", 2}}));
}

// A segment that takes no more items has its end moved by twice its length.
TEST_F(ThreadPool, AFullSegmentIsFrozen) {
  const std::uint64_t full = segment({item("A"), item("A")}, 2, 2);
  heap.set(full, {"_headAndTail", "Tail"}, 2 + 2 + 4);
  EXPECT_EQ(read().queued, 0);
  heap.set(queue, {"workItems"}, concurrent_queue(full));
  EXPECT_EQ(read().queued, 0);
  heap.set(full, {"_frozenForEnqueues"}, 1);
  EXPECT_EQ(read().queued, 2);
}

TEST_F(ThreadPool, ItsThreadsHaveQueuesOfTheirOwn) {
  const std::uint64_t a = item("A");
  add_thread(0x20, {"Wait()", kDispatch}, {local({a, 0, a})});
  add_thread(0x30, {"Wait()", kDispatch}, {local({a})});
  add_thread(0x40, {"Other()"}, {local({a})});
  EXPECT_EQ(read().queued, 3);
  EXPECT_EQ(read().items, (Items{{"A", 3}}));
}

TEST_F(ThreadPool, ItsQueueMayBeKnownByTheDataOfAThread) {
  heap.set(queue, {"workItems"}, concurrent_queue(segment({item("A")}, 0, 2)));
  snapshot.threads.clear();
  add_thread(0x20, {"Wait()", kDispatch}, {local({})});
  EXPECT_EQ(read().queued, 1);
  EXPECT_EQ(read().workers, -1);
}

// A collection has moved the queue.
TEST_F(ThreadPool, AnOldCopyDoesNotCount) {
  const std::uint64_t old = heap.object(*target.memory_of.read_value<std::uint64_t>(queue));
  heap.set(queue, {"workItems"}, concurrent_queue(segment({item("A")}, 0, 2)));
  add_thread(0x20, {"Wait()", kDispatch}, {old});
  EXPECT_EQ(read().queued, -1);
  clr.objects_of[queue] = "System.Threading.ThreadPoolWorkQueue";
  EXPECT_EQ(read().queued, 1);
}

// What goes on behind an await, and is in no context, is in the queue of the pool, or in one that
// is not known.
TEST_F(ThreadPool, MethodsThatAreNotInItsQueueAreElsewhere) {
  const std::uint64_t box = item("Box"), other = item("Other");
  const std::uint64_t go_on =
      heap.set(heap.object(heap.type("System.Action", {{"_target"}}, heap.type("System.Delegate"))),
               {"_target"}, box);
  const std::uint64_t callback =
      heap.set(heap.object(heap.type("Callback", {{"_state"}})), {"_state"}, go_on);
  const auto tasks = [&](std::uint64_t queued) {
    heap.set(queue, {"workItems"}, concurrent_queue(segment({other, queued}, 0, 4)));
    snapshot.contexts.clear();
    snapshot.tasks = {
        {.address = box, .kind = TaskKind::async_method, .await_number = 0, .awaits = {1}},
        {.status = TaskStatus::done, .not_resumed = true},
        {.address = box,
         .kind = TaskKind::async_method,
         .status = TaskStatus::queued,
         .await_number = 0}};
    read();
    return snapshot.tasks;
  };
  for (const std::uint64_t queued : {box, go_on, callback}) {
    EXPECT_EQ(tasks(queued)[1].continues_on, AsyncTask::kNone);
    EXPECT_EQ(tasks(queued)[2].status, TaskStatus::queued);
  }
  EXPECT_EQ(tasks(other)[1].continues_on, 0u);
  EXPECT_EQ(tasks(other)[2].status, TaskStatus::waiting);
  ASSERT_EQ(snapshot.contexts.size(), 1u);
  EXPECT_EQ(snapshot.contexts[0].address, 0u);
  // Without the queue nothing is known.
  snapshot.threads.clear();
  EXPECT_EQ(tasks(other)[1].continues_on, AsyncTask::kNone);
}

TEST_F(ThreadPool, HostileQueuesEnd) {
  const std::uint64_t loop = segment({item("A")}, 0, 2);
  heap.set(loop, {"_nextSegment"}, loop);
  heap.set(queue, {"workItems"}, concurrent_queue(loop));
  EXPECT_EQ(read().queued, 1);
  heap.set(loop, {"_headAndTail", "Tail"}, 0xFFFF'FFFF);
  EXPECT_EQ(read().queued, 0);
  const std::uint64_t huge = local({1});
  const std::uint64_t own = *target.memory_of.read_value<std::uint64_t>(huge + 8);
  heap.set(own, {"m_tailIndex"}, 0x7FFF'FFFF);
  EXPECT_EQ(read().queued, 0);
  heap.put(*target.memory_of.read_value<std::uint64_t>(own + 8) + 8, 0x7FFF'FFFF);
  add_thread(0x20, {"Wait()", kDispatch}, {huge});
  EXPECT_GE(read().queued, 0x7FFF'FFFF - 1'000'000);
}

}  // namespace
}  // namespace mixwalk
