#include "walker/locks/queue_positions.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <set>
#include <string_view>
#include <vector>

#include "walker/clr/old_copies.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/waiting_threads.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxCollectionWaiters = 1000;
constexpr std::chrono::seconds kMaxPositionsTime{2};
// A garbage collection may move the objects while they are read.
constexpr int kMaxLooks = 3;
constexpr std::uint32_t kMaxSegmentLength = 1 << 20;  // ConcurrentQueue<T>.MaxSegmentLength (public)
constexpr std::size_t kMaxBagQueues = 1000;            // one for each thread that has added items

// From inside, methods of .NET 8 and 9 have no type arguments: BlockingCollection.Add(!0).
constexpr std::string_view kCollection = "System.Collections.Concurrent.BlockingCollection",
                           kQueue = "System.Collections.Concurrent.ConcurrentQueue<",
                           kBag = "System.Collections.Concurrent.ConcurrentBag<";

bool is_of_collection(const Frame& frame) {
  return frame.kind == FrameKind::managed && frame.name.starts_with(kCollection);
}

class PositionSearch {
 public:
  PositionSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), clr_(clr), objects_(target.memory(), clr), waiting_(target) {}

  void add() {
    std::size_t waiters = 0;
    for (Thread& thread : snapshot_.threads) {
      const auto end = collection_wait_end(thread);
      if (!end || !is_managed_wait_part(thread, *end)) continue;
      if (++waiters > kMaxCollectionWaiters || std::chrono::steady_clock::now() >= end_) break;
      thread.queue_position = position_of(thread, *end);
    }
  }

 private:
  // 0 if it is not known. A thread that has left its wait meanwhile has got room, or an item, and then the time of the
  // dump is a number that no other dump has.
  std::uint64_t position_of(const Thread& thread, std::uint64_t end) {
    std::uint64_t position = 0;
    for (int i = 0; i < kMaxLooks && position == 0; ++i) {
      const std::vector<std::uint64_t> words = waiting_.all_words_of(thread, end);
      if (words.empty()) {
        if (waiting_.has_left(thread)) return snapshot_.unix_time_ms;
        continue;  // it may be back by now
      }
      const bool live = forget_what_was_read(target_, clr_);
      position = position_of(words);
      if (!live) break;
    }
    return position;
  }

  std::uint64_t position_of(const std::vector<std::uint64_t>& words) {
    objects_.objects().expect(words);
    std::set<std::uint64_t> found;
    for (const std::uint64_t word : words) {
      if (waits_in(word, words)) found.insert(word);
    }
    if (found.size() > 1) {
      const std::vector<std::uint64_t> several(found.begin(), found.end());
      for (const std::uint64_t copy : old_copies(clr_, several)) found.erase(copy);
    }
    if (found.size() != 1) return 0;
    const std::uint64_t items = objects_.reference(*found.begin(), {"_collection"});
    const std::string_view type = objects_.type_name(items);
    return type.starts_with(kQueue) ? position_in_queue(items) : type.starts_with(kBag) ? position_in_bag(items) : 0;
  }

  // Whether this is a collection for one of whose semaphores a thread with these words may wait. (The item that it adds
  // may be a collection too.)
  bool waits_in(std::uint64_t collection, const std::vector<std::uint64_t>& words) {
    if (!objects_.type_name(collection).starts_with(kCollection)) return false;
    return std::ranges::any_of(std::initializer_list<std::string_view>{"_freeNodes", "_occupiedNodes"},
                               [&](std::string_view field) {
      const std::uint64_t semaphore = objects_.reference(collection, {field});
      return semaphore != 0 && std::ranges::find(words, semaphore) != words.end();
    });
  }

  // Items are taken from the first segment of a list. It is a ring whose Head counts the items that were taken from it.
  // The next segment begins at 0 again, but is longer, as long as nobody enumerates the queue. So the segment's length
  // and its Head together differ after each item that is taken.
  std::uint64_t position_in_queue(std::uint64_t queue) {
    const std::uint64_t segment = objects_.reference(queue, {"_head"});
    const auto slots = objects_.objects().array(objects_.reference(segment, {"_slots"}));
    const auto head = objects_.value<std::uint32_t>(segment, {"_headAndTail", "Head"});
    if (!slots || !head || slots->length == 0 || slots->length > kMaxSegmentLength) return 0;
    return std::uint64_t{slots->length} << 32 | *head;
  }

  // Each thread that has added items has a queue. The other threads take from its head, and it adds at its tail. The
  // two indices of a thread that takes what it has added itself go back.
  std::uint64_t position_in_bag(std::uint64_t bag) {
    std::uint32_t heads = 0, tails = 0;
    std::uint64_t queue = objects_.reference(bag, {"_workStealingQueues"});
    std::size_t queues = 0;
    for (; queue != 0; queue = objects_.reference(queue, {"_nextQueue"})) {
      const auto head = objects_.value<std::uint32_t>(queue, {"_headIndex"});
      const auto tail = objects_.value<std::uint32_t>(queue, {"_tailIndex"});
      if (!head || !tail || ++queues > kMaxBagQueues) return 0;
      heads += *head;
      tails += *tail;
    }
    return std::uint64_t{heads & 0xF'FFFF} << 32 | tails;  // a number that JSON can have
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  ObjectPaths objects_;
  WaitingThreads waiting_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMaxPositionsTime;
};

}  // namespace

std::optional<std::uint64_t> collection_wait_end(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  auto method = frame_of_wait(thread, is_of_collection);
  while (method && *method + 1 < frames.size() && is_of_collection(frames[*method + 1])) ++*method;
  return method ? end_of_arguments(thread, *method) : std::nullopt;
}

bool has_collection_waits(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads,
                             [](const Thread& thread) { return collection_wait_end(thread).has_value(); });
}

void add_queue_positions(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  if (has_collection_waits(snapshot)) PositionSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
