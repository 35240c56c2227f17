#include "walker/locks/reader_locks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "unmanaged/user_address.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

constexpr std::string_view kLock = "System.Threading.ReaderWriterLockSlim",
                           kCount = "System.Threading.ReaderWriterCount";
constexpr std::string_view kEnterUpgradeable = "System.Threading.ReaderWriterLockSlim.TryEnterUpgradeableReadLock";
// How many bytes of the runtime's Thread are read. It is not larger, and reading beyond it does no harm.
constexpr std::size_t kRuntimeThreadBytes = 4096;
constexpr std::size_t kMaxReadingThreads = 5'000, kMaxTypes = 4'096, kMaxFields = 64, kMaxCounts = 1'000,
                      kMaxBuckets = 64;
constexpr std::string_view kReferences = "System.Object[]";
constexpr std::uint32_t kNone = ~0u;

// ThreadLocalData of .NET 9 and later, its beginning.
struct ThreadData {
  std::uint32_t array_bytes = 0, collectible_bytes = 0;
  std::uint64_t array = 0, collectible = 0;
  std::uint64_t thread = 0;
};
static_assert(sizeof(ThreadData) == 32);

// ThreadStaticHandleBucket of .NET 8. A ThreadStaticHandleTable begins with the address of its first bucket.
struct StaticsBucket {
  std::uint64_t next = 0;
  std::uint32_t elements = 0, used = 0;
  std::uint64_t handle = 0;  // leads to an array of static references
};
static_assert(sizeof(StaticsBucket) == 24);

// A thread's use of one lock.
struct Use {
  std::uint32_t thread = 0;
  std::int64_t lock = 0;
};

class ReaderSearch {
 public:
  ReaderSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), target_(target), objects_(target.memory(), clr), threads_(clr.threads()) {
    if (threads_.size() > kMaxReadingThreads) threads_.resize(kMaxReadingThreads);
  }

  void add() {
    bool found = false;
    for (const ClrThread& thread : threads_) {
      if (thread.os_id != 0) found = add_uses(thread) || found;
    }
    if (!found) add_uses_of_tables();
    if (target_.forget_memory()) waiting_.emplace(target_);
    std::erase_if(uses_, [&](const Use& use) { return has_moved(use.thread); });
    std::vector<Lock> turns;
    for (Lock& lock : snapshot_.locks) {
      if (lock.type != kLock || lock.owner != 0 || !lock.held) continue;
      const auto number = objects_.value<std::int64_t>(lock.address, {"_lockID"});
      for (const Use& use : uses_) {
        if (number == use.lock) lock.sharers.push_back(use.thread);
      }
      // The threads that read are counted, those whose lists cannot be read included.
      constexpr std::uint32_t kReaders = 0x0FFF'FFFF;
      lock.recursion = objects_.value<std::uint32_t>(lock.address, {"_owners"}).value_or(0) & kReaders;
      // A thread that may begin to write reads as well, and need not have an entry in its list.
      const auto upgrader = objects_.value<std::uint32_t>(lock.address, {"_upgradeLockOwnerId"});
      const auto thread = std::ranges::find(threads_, upgrader.value_or(kNone), &ClrThread::managed_id);
      if (thread != threads_.end() && thread->os_id != 0) {
        lock.sharers.push_back(thread->os_id);
        add_turn_to_upgrade(lock, thread->os_id, turns);
      }
      std::ranges::sort(lock.sharers);
      lock.sharers.erase(std::unique(lock.sharers.begin(), lock.sharers.end()), lock.sharers.end());
    }
    // Nobody waits for readers if all waiters wait for their turn.
    std::erase_if(snapshot_.locks, [](const Lock& lock) { return lock.type == kLock && lock.waiters.empty(); });
    add_locks(snapshot_, std::move(turns));
  }

 private:
  // A thread that is no longer where the snapshot has it may have begun to read since. Together with the locks that it
  // waited for then, this would look like a deadlock.
  bool has_moved(std::uint32_t os_id) {
    if (!waiting_) return false;
    const auto thread = std::ranges::find(snapshot_.threads, os_id, &Thread::os_id);
    if (thread == snapshot_.threads.end() || thread->stack.frames.empty()) return true;
    return waiting_->words_of(*thread, thread->stack.frames.front().stack_pointer + 8, 8).empty();
  }

  // Only one thread at a time may have entered the lock so that it may write later. Other threads that want this wait
  // for that one, whoever reads beside it. So their wait is a lock of its own, which that thread owns.
  void add_turn_to_upgrade(Lock& lock, std::uint32_t upgrader, std::vector<Lock>& turns) {
    const auto wants_turn = [&](const LockWaiter& waiter) {
      const auto thread = std::ranges::find(snapshot_.threads, waiter.os_id, &Thread::os_id);
      return waiter.os_id != upgrader && thread != snapshot_.threads.end() &&
             std::ranges::any_of(thread->stack.frames, [](const StackFrame& frame) {
               return frame.kind == FrameKind::managed && frame.name.starts_with(kEnterUpgradeable);
             });
    };
    Lock turn{.kind = lock.kind, .address = lock.address, .type = lock.type, .owner = upgrader, .held = true,
              .waiters = {}};
    std::ranges::copy_if(lock.waiters, std::back_inserter(turn.waiters), wants_turn);
    // Only now, since this look suspends the thread.
    if (turn.waiters.empty() || has_moved(upgrader)) return;
    std::erase_if(lock.waiters, wants_turn);
    turns.push_back(std::move(turn));
  }

  // The words of the runtime's Thread, and of what lies behind it.
  using Words = std::array<std::uint64_t, kRuntimeThreadBytes / 8>;
  Words words_of(const ClrThread& thread) {
    Words words{};
    objects_.memory().read_up_to(thread.address, words.data(), kRuntimeThreadBytes);
    return words;
  }

  // The array of the thread's static references; 0 if it cannot be found.
  std::uint64_t statics_of(const ClrThread& thread) {
    const Words words = words_of(thread);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] % 8 != 0 || !is_user_address(words[i])) continue;
      const auto data = objects_.memory().read_value<ThreadData>(words[i]);
      if (!data || data->thread != thread.address || data->array_bytes == 0) continue;
      if (objects_.type_name(data->array) == kReferences) return data->array;
    }
    return 0;
  }

  // Each object of the array has the static references of one type. Returns whether there is such an array.
  bool add_uses(const ClrThread& thread) {
    const std::uint64_t statics = statics_of(thread);
    if (statics == 0) return false;
    const std::vector<std::uint64_t> types = objects_.objects().words(statics, kMaxTypes);
    objects_.objects().expect(types);
    std::vector<std::uint64_t> fields;
    for (const std::uint64_t type : types) {
      const std::vector<std::uint64_t> words = objects_.objects().words(type, kMaxFields);
      fields.insert(fields.end(), words.begin(), words.end());
    }
    add_first_list(thread.os_id, fields);
    return true;
  }

  void add_first_list(std::uint32_t thread, const std::vector<std::uint64_t>& references) {
    objects_.objects().expect(references);
    const auto list = std::ranges::find_if(references, [&](std::uint64_t at) {
      return objects_.type_name(at) == kCount;
    });
    if (list != references.end()) add_list(thread, *list);
  }

  // .NET 8: the arrays to which a table at this address leads; none if there is no such table.
  std::vector<std::uint64_t> arrays_of_table(std::uint64_t table) {
    std::vector<std::uint64_t> arrays;
    if (table % 8 != 0 || !is_user_address(table)) return {};
    std::uint64_t at = objects_.memory().read_value<std::uint64_t>(table).value_or(0);
    for (std::size_t i = 0; i < kMaxBuckets && at != 0; ++i) {
      const auto bucket = objects_.memory().read_value<StaticsBucket>(at);
      if (!bucket || bucket->elements == 0) return {};
      const std::uint64_t array = objects_.memory().read_value<std::uint64_t>(bucket->handle).value_or(0);
      if (objects_.type_name(array) != kReferences) return {};
      const auto elements = objects_.objects().array(array);
      if (!elements || elements->length != bucket->elements) return {};
      arrays.push_back(array);
      at = bucket->next;
    }
    return arrays;
  }

  // .NET 8: a word of the runtime's Thread leads to the table, in every Thread the same word. The table does not lead
  // back, and the Thread of another thread may lie behind this one, so only the first such word of all threads counts.
  void add_uses_of_tables() {
    std::size_t word = kRuntimeThreadBytes / 8;
    for (const ClrThread& thread : threads_) {
      const Words words = words_of(thread);
      const auto end = words.begin() + static_cast<std::ptrdiff_t>(word);
      const auto first =
          std::find_if(words.begin(), end, [&](std::uint64_t at) { return !arrays_of_table(at).empty(); });
      word = static_cast<std::size_t>(first - words.begin());
    }
    if (word == kRuntimeThreadBytes / 8) return;
    for (const ClrThread& thread : threads_) {
      if (thread.os_id == 0) continue;
      std::vector<std::uint64_t> references;
      for (const std::uint64_t array : arrays_of_table(words_of(thread)[word])) {
        std::ranges::copy(objects_.objects().words(array, kMaxTypes), std::back_inserter(references));
      }
      add_first_list(thread.os_id, references);
    }
  }

  void add_list(std::uint32_t thread, std::uint64_t at) {
    for (std::size_t i = 0; i < kMaxCounts && objects_.type_name(at) == kCount; ++i) {
      const auto lock = objects_.value<std::int64_t>(at, {"lockID"});
      const auto readers = objects_.value<std::int32_t>(at, {"readercount"});
      if (lock && readers && *readers > 0) uses_.push_back({thread, *lock});
      at = objects_.reference(at, {"next"});
    }
  }

  Snapshot& snapshot_;
  Target& target_;
  ObjectPaths objects_;
  std::vector<ClrThread> threads_;
  std::optional<WaitingThreads> waiting_;  // if the target runs
  std::vector<Use> uses_;
};

}  // namespace

void add_readers(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  const bool wanted = std::ranges::any_of(snapshot.locks, [](const Lock& lock) {
    return lock.type == kLock && lock.owner == 0 && lock.held;
  });
  if (wanted) ReaderSearch(snapshot, target, clr).add();
}

}  // namespace mixwalk
