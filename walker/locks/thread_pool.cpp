#include "walker/locks/thread_pool.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "walker/clr/old_copies.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/stack_words.h"
#include "walker/locks/work_items.h"

namespace mixwalk {
namespace {

constexpr std::string_view kPool = "System.Threading.PortableThreadPool",
                           kQueue = "System.Threading.ThreadPoolWorkQueue",
                           kLocals = "System.Threading.ThreadPoolWorkQueueThreadLocals";
// The methods of the pool that keep its objects.
constexpr std::string_view kWorkers[] = {"System.Threading.ThreadPoolWorkQueue.Dispatch(",
                                         "System.Threading.PortableThreadPool+WorkerThread."};
constexpr std::string_view kGate = "System.Threading.PortableThreadPool+GateThread.";

// The limits for threads whose stacks are read, for the segments of all queues, and for items whose methods are read. A
// segment has up to a million items, so more segments are no queue of a program that still runs.
constexpr std::size_t kMaxPoolThreads = 2'000, kMaxSegments = 10'000, kMaxItems = 1'000, kMaxQueues = 256;
constexpr std::size_t kMaxItemMethods = 50;
// The limit for items in which continuations are looked for.
constexpr std::size_t kMaxKeptItems = 20'000;
constexpr std::uint32_t kMaxSlots = 1'000'000;  // how many slots of all queues are looked at
constexpr std::size_t kMaxAsking = 16;           // threads

// ConcurrentQueueSegment<object>.Slot: an item, and a number that says whose turn the slot is.
struct Slot {
  std::uint64_t item = 0;
  std::int32_t turn = 0, unused = 0;
};
static_assert(sizeof(Slot) == 16);

class PoolReader {
 public:
  PoolReader(Snapshot& snapshot, const Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), objects_(target.memory(), clr), stacks_(target), names_(objects_, snapshot) {}

  void read() {
    find_objects();
    if (pool_ != 0) read_counts();
    if (queue_ != 0) {
      read_queues();
      find_elsewhere();
    }
  }

 private:
  static bool is_of_pool(const Thread& thread) {
    return std::ranges::any_of(thread.stack.frames, [](const StackFrame& frame) {
      const auto begins = [&](std::string_view name) { return frame.name.starts_with(name); };
      return frame.kind == FrameKind::managed && (begins(kGate) || std::ranges::any_of(kWorkers, begins));
    });
  }

  void find_objects() {
    std::set<std::uint64_t> pools, queues, locals;
    std::size_t read = 0;
    for (const Thread& thread : snapshot_.threads) {
      if (!is_of_pool(thread) || ++read > kMaxPoolThreads) continue;
      const std::vector<std::uint64_t> words = stacks_.of(thread);
      // Types have to be asked for only until one object of each is found. That takes few threads, or there is none.
      const bool asks = tables_.size() < 3 && read <= kMaxAsking;
      if (asks) objects_.objects().expect(words);
      for (const std::uint64_t word : words) {
        const std::uint64_t table = objects_.objects().method_table_of(word);
        const auto known = tables_.find(table);
        if (table == 0 || (!asks && known == tables_.end())) continue;
        const std::string_view name = known != tables_.end() ? known->second : objects_.type_name(word);
        if (name != kPool && name != kQueue && name != kLocals) continue;
        if (known == tables_.end()) tables_.emplace(table, name);
        (name == kPool ? pools : name == kQueue ? queues : locals).insert(word);
      }
    }
    leave_out_old_copies(pools, 1);
    leave_out_old_copies(queues, 1);
    leave_out_old_copies(locals, read);
    for (const std::uint64_t local : locals) {
      if (const std::uint64_t queue = objects_.reference(local, {"workQueue"}); queue != 0) queues = {queue};
      const std::uint64_t own = objects_.reference(local, {"workStealingQueue"});
      if (own != 0 && locals_.size() < kMaxPoolThreads) locals_.insert(own);
    }
    if (pools.size() == 1) pool_ = *pools.begin();
    if (queues.size() == 1) queue_ = *queues.begin();
  }

  void leave_out_old_copies(std::set<std::uint64_t>& objects, std::size_t most) {
    if (objects.size() <= most) return;
    const std::vector<std::uint64_t> addresses(objects.begin(), objects.end());
    for (const std::uint64_t copy : old_copies(objects_.objects().clr(), addresses)) objects.erase(copy);
  }

  // ThreadCounts: three 16-bit numbers in one word.
  void read_counts() {
    ThreadPoolState& state = snapshot_.pool;
    const auto counts = objects_.value<std::uint64_t>(pool_, {"_separated", "counts", "_data"});
    const auto number = [&](int shift) { return static_cast<std::int16_t>(*counts >> shift & 0xFFFF); };
    if (counts) {
      state.working = number(0);
      state.workers = number(16);
      state.goal = number(32);
    }
    state.min = objects_.value<std::int16_t>(pool_, {"_minThreads"}).value_or(-1);
    state.max = objects_.value<std::int16_t>(pool_, {"_maxThreads"}).value_or(-1);
    for (std::int32_t* const one : {&state.working, &state.workers, &state.goal, &state.min, &state.max}) {
      *one = std::max(*one, -1);
    }
  }

  void read_queues() {
    snapshot_.pool.queued = 0;
    read_queue(objects_.reference(queue_, {"highPriorityWorkItems"}));
    read_queue(objects_.reference(queue_, {"workItems"}));
    if (const auto more = objects_.reference(queue_, {"_assignableWorkItemQueues"}); more != 0) {
      for (const std::uint64_t queue : objects_.objects().words(more, kMaxQueues)) read_queue(queue);
    }
    read_queue(objects_.reference(queue_, {"lowPriorityWorkItems"}));
    for (const std::uint64_t local : locals_) read_local(local);
    group_items();
  }

  // Items are in a list of segments, each of which is a ring. The indices of a segment only grow. Those of a segment
  // that is full for good are apart by twice its length more.
  void read_queue(std::uint64_t queue) {
    std::uint64_t segment = queue == 0 ? 0 : objects_.reference(queue, {"_head"});
    std::set<std::uint64_t> seen;
    while (segment != 0 && seen.insert(segment).second && ++segments_ < kMaxSegments) {
      const auto slots = objects_.objects().array(objects_.reference(segment, {"_slots"}));
      const auto head = objects_.value<std::uint32_t>(segment, {"_headAndTail", "Head"});
      const auto tail = objects_.value<std::uint32_t>(segment, {"_headAndTail", "Tail"});
      if (!slots || !head || !tail || slots->length == 0) return;
      std::uint32_t count = *tail - *head;
      const bool frozen = objects_.value<std::uint8_t>(segment, {"_frozenForEnqueues"}).value_or(0) != 0;
      if (frozen && count >= 2 * slots->length) count -= 2 * slots->length;
      if (count > slots->length) return;
      snapshot_.pool.queued += count;
      if (slots->element_bytes == sizeof(Slot)) add_items(*slots, *head, count);
      segment = objects_.reference(segment, {"_nextSegment"});
    }
  }

  void add_items(const ManagedArray& slots, std::uint32_t head, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count && slots_ < kMaxSlots && items_.size() <= kMaxKeptItems;
         ++i, ++slots_) {
      const std::uint64_t at = slots.data + sizeof(Slot) * std::uint64_t{(head + i) % slots.length};
      const auto slot = objects_.memory().read_value<Slot>(at);
      if (slot && slot->item != 0) items_.push_back(slot->item);
    }
  }

  // A thread's own queue is a ring of references.
  void read_local(std::uint64_t queue) {
    const auto slots = objects_.objects().array(objects_.reference(queue, {"m_array"}));
    const auto head = objects_.value<std::int32_t>(queue, {"m_headIndex"});
    const auto tail = objects_.value<std::int32_t>(queue, {"m_tailIndex"});
    if (!slots || !head || !tail || slots->length == 0 || *head < 0 || *tail <= *head) return;
    const auto count = static_cast<std::uint32_t>(*tail - *head);
    if (count > slots->length || slots->element_bytes != 8) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (slots_++ >= kMaxSlots) {
        snapshot_.pool.queued += count - i;
        return;
      }
      const std::uint64_t at = slots->data + 8 * std::uint64_t{(static_cast<std::uint32_t>(*head) + i) % slots->length};
      const std::uint64_t item = objects_.memory().read_value<std::uint64_t>(at).value_or(0);
      // An item that a thread has taken out of the middle leaves nothing behind.
      if (item == 0) continue;
      ++snapshot_.pool.queued;
      if (items_.size() <= kMaxKeptItems) items_.push_back(item);
    }
  }

  void group_items() {
    objects_.objects().expect(items_);
    std::vector<ThreadPoolState::Item>& groups = snapshot_.pool.items;
    for (const std::uint64_t item : std::span(items_).first(std::min(items_.size(), kMaxItems))) {
      const WorkItem named = names_.of(item);
      if (named.method.empty()) continue;
      const auto same = std::ranges::find(groups, named.method, &ThreadPoolState::Item::method);
      if (same != groups.end()) {
        ++same->count;
      } else if (groups.size() < kMaxItemMethods) {
        groups.push_back({.method = named.method, .count = 1, .task = named.task});
      }
    }
  }

  // What goes on behind an await and is in no context may be in the queue of the pool, or in one of
  // the program's own that nothing leads to. Folklore: the loop of a game, or of a test, has such a
  // queue, in a static field. If it is slow while all workers of the pool wait for it, this looks
  // like a deadlock of the pool. Remedy: what is not in the pool's queue is in one that is not
  // known. Test: ThreadPool.
  void find_elsewhere() {
    std::vector<AsyncTask>& tasks = snapshot_.tasks;
    const bool wanted = std::ranges::any_of(
        tasks, [](const AsyncTask& task) { return waits_in_pool(task) || is_queued_method(task); });
    if (!wanted || items_.size() > kMaxKeptItems || slots_ >= kMaxSlots) return;
    std::unordered_set<std::uint64_t> queued;
    for (const std::uint64_t item : items_) names_.add_objects(item, queued);
    std::vector<bool> elsewhere(tasks.size());
    for (AsyncTask& task : tasks) {
      const bool goes_on = !has_ended(task.status) && task.await_number >= 0;
      if (!goes_on || queued.contains(task.address)) continue;
      if (is_queued_method(task)) task.status = TaskStatus::waiting;
      for (const std::uint32_t awaited : task.awaits) elsewhere[awaited] = true;
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (elsewhere[i] && waits_in_pool(tasks[i])) tasks[i].continues_on = unknown_queue();
    }
  }

  static bool waits_in_pool(const AsyncTask& task) {
    return has_ended(task.status) && task.not_resumed && task.continues_on == AsyncTask::kNone;
  }
  static bool is_queued_method(const AsyncTask& task) {
    return task.kind == TaskKind::async_method && task.status == TaskStatus::queued &&
           task.object == 0;
  }

  std::uint32_t unknown_queue() {
    const auto known =
        std::ranges::find(snapshot_.contexts, std::uint64_t{0}, &AsyncContext::address);
    const auto index = static_cast<std::uint32_t>(known - snapshot_.contexts.begin());
    if (known == snapshot_.contexts.end()) snapshot_.contexts.emplace_back();
    return index;
  }

  Snapshot& snapshot_;
  ObjectPaths objects_;
  StackWords stacks_;
  WorkItems names_;
  std::uint64_t pool_ = 0, queue_ = 0;
  std::set<std::uint64_t> locals_;                             // WorkStealingQueues
  std::unordered_map<std::uint64_t, std::string_view> tables_;  // names by MethodTable, of the three types
  std::size_t segments_ = 0;
  std::uint32_t slots_ = 0;  // that were read
  std::vector<std::uint64_t> items_;
};

}  // namespace

void add_thread_pool(Snapshot& snapshot, const Target& target, ClrQuestions& clr) {
  PoolReader(snapshot, target, clr).read();
}

}  // namespace mixwalk
