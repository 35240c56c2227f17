#include "walker/locks/reader_locks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "unmanaged/user_address.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/waiting_threads.h"

namespace mixwalk {
namespace {

constexpr std::string_view kLock = "System.Threading.ReaderWriterLockSlim",
                           kCount = "System.Threading.ReaderWriterCount";
// How many bytes of the runtime's Thread are read. It is not larger, and reading beyond it does no harm.
constexpr std::size_t kRuntimeThreadBytes = 4096;
constexpr std::size_t kMaxReadingThreads = 5'000, kMaxTypes = 4'096, kMaxFields = 64, kMaxCounts = 1'000;
constexpr std::uint32_t kNone = ~0u;

// ThreadLocalData, its beginning.
struct ThreadData {
  std::uint32_t array_bytes = 0, collectible_bytes = 0;
  std::uint64_t array = 0, collectible = 0;
  std::uint64_t thread = 0;
};
static_assert(sizeof(ThreadData) == 32);

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
    for (const ClrThread& thread : threads_) {
      if (thread.os_id != 0) add_uses(thread);
    }
    if (!uses_.empty() && target_.forget_memory()) leave_out_moved();
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
      if (thread != threads_.end() && thread->os_id != 0) lock.sharers.push_back(thread->os_id);
      std::ranges::sort(lock.sharers);
      lock.sharers.erase(std::unique(lock.sharers.begin(), lock.sharers.end()), lock.sharers.end());
    }
  }

 private:
  // A thread that is no longer where the snapshot has it may have begun to read since. Together with the locks that it
  // waited for then, this would look like a deadlock.
  void leave_out_moved() {
    WaitingThreads waiting(target_);
    std::erase_if(uses_, [&](const Use& use) {
      const auto thread = std::ranges::find(snapshot_.threads, use.thread, &Thread::os_id);
      if (thread == snapshot_.threads.end() || thread->stack.frames.empty()) return true;
      return waiting.words_of(*thread, thread->stack.frames.front().stack_pointer + 8, 8).empty();
    });
  }

  // The array of the thread's static references; 0 if it cannot be found.
  std::uint64_t statics_of(const ClrThread& thread) {
    std::array<std::uint64_t, kRuntimeThreadBytes / 8> words{};
    const std::size_t bytes = objects_.memory().read_up_to(thread.address, words.data(), kRuntimeThreadBytes);
    for (std::size_t i = 0; i < bytes / 8; ++i) {
      if (words[i] % 8 != 0 || !is_user_address(words[i])) continue;
      const auto data = objects_.memory().read_value<ThreadData>(words[i]);
      if (!data || data->thread != thread.address || data->array_bytes == 0) continue;
      if (objects_.type_name(data->array) == "System.Object[]") return data->array;
    }
    return 0;
  }

  // Each object of the array has the static references of one type.
  void add_uses(const ClrThread& thread) {
    const std::uint64_t statics = statics_of(thread);
    if (statics == 0) return;
    const std::vector<std::uint64_t> types = objects_.objects().words(statics, kMaxTypes);
    objects_.objects().expect(types);
    std::vector<std::uint64_t> fields;
    for (const std::uint64_t type : types) {
      const std::vector<std::uint64_t> words = objects_.objects().words(type, kMaxFields);
      fields.insert(fields.end(), words.begin(), words.end());
    }
    objects_.objects().expect(fields);
    for (const std::uint64_t field : fields) {
      if (objects_.type_name(field) == kCount) return add_list(thread.os_id, field);
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
