#include "walker/locks/monitors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "unmanaged/user_address.h"

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// How many bytes of the runtime's Thread are read. It is not larger, and reading beyond it does no harm.
constexpr std::size_t kThreadBytes = 4096;
// A stack's words are read in pieces.
constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::uint64_t kMaxStackBytes = 12 << 20;
// For one stack: the limit for words that may lead to an object.
constexpr std::size_t kMaxWords = 200'000;

// The 4 bytes before an object (ObjHeader), on .NET 8 to 10.
constexpr std::uint32_t kThinOwner = 0x0000'FFFF, kThinRecursion = 0x003F'0000, kThinRecursionShift = 16;
// A header with any of these bits has no thin lock. The bits mean that the header has the number of a sync block or a
// hash code, that a thread is changing it at this moment, or a value that the runtime does not use.
constexpr std::uint32_t kNotThin = 0x0800'0000 | 0x1000'0000 | 0x8000'0000 | 0x07C0'0000;

// DebugBlockingItem.
struct BlockingRecord {
  std::uint64_t lock = 0, domain = 0;
  std::uint32_t kind = 0;  // 0 if the thread waits to enter, or kPulse
  std::uint32_t time_out_ms = 0;
};
static_assert(sizeof(BlockingRecord) == 24);
constexpr std::uint32_t kPulse = 1;

// The words before and at an object's address.
struct ObjectHead {
  std::uint32_t padding = 0, header = 0;
  std::uint64_t method_table = 0;
};
static_assert(sizeof(ObjectHead) == 16);

class MonitorSearch {
 public:
  MonitorSearch(ClrQuestions& clr, const MemoryReader& memory, std::span<const ThreadStack> stacks,
                std::span<const Module> images, const MonitorLimits& limits)
      : clr_(clr), memory_(memory), images_(images), limits_(limits), end_(Clock::now() + limits.time) {
    for (const ThreadStack& stack : stacks) stacks_[stack.os_id] = stack;
  }

  FoundMonitors find() {
    threads_ = clr_.threads();
    find_blocks();
    for (const ClrThread& thread : threads_) {
      const auto stack = stacks_.find(thread.os_id);
      if (thread.os_id == 0 || stack == stacks_.end() || stack->second.base == 0) continue;
      if (Clock::now() >= end_) {
        missing(kLocksTimeOver);
        break;
      }
      find_waiter(thread, stack->second);
      find_thin_locks(thread, stack->second);
    }
    note_unread_threads();
    finish();
    find_pause();
    if (!clr_.obstacle().empty()) found_.missing = clr_.obstacle();
    return std::move(found_);
  }

 private:
  void missing(const char* why) {
    if (found_.missing.empty()) found_.missing = why;
  }

  // The library's list of threads may end early, if a thread ends while the list is read. Then waiters are missing.
  void note_unread_threads() {
    std::unordered_set<std::uint32_t> listed;
    for (const ClrThread& thread : threads_) listed.insert(thread.os_id);
    for (const auto& [id, stack] : stacks_) {
      if (stack.managed && (stack.base == 0 || !listed.contains(id))) return missing("not all threads could be read");
    }
  }

  void find_pause() {
    const auto pausing = std::ranges::find_if(threads_, &ClrThread::pauses);
    if (pausing == threads_.end() || pausing->os_id == 0) return;
    for (const ClrThread& thread : threads_) {
      const auto stack = stacks_.find(thread.os_id);
      const bool waited_for = thread.cooperative && !thread.pauses && thread.os_id != 0;
      if (!waited_for || stack == stacks_.end() || !stack->second.in_system_call) continue;
      Lock lock{.kind = LockKind::pause, .owner = thread.os_id, .held = true, .waiters = {{pausing->os_id}}};
      found_.monitors.push_back({std::move(lock), thread.address});
      return;
    }
  }

  void find_blocks() {
    std::unordered_map<std::uint64_t, std::uint32_t> owners;
    for (const ClrThread& thread : threads_) owners.emplace(thread.address, thread.os_id);
    for (std::uint32_t next = 1; next != 0;) {
      const auto some = clr_.sync_blocks(next);
      if (!some) return missing("the sync blocks could not be read");
      for (const ClrSyncBlock& block : some->blocks) add_block(block, owners);
      if (full()) return;
      if (some->unreadable) missing("not all sync blocks could be read");
      // The loop never goes backwards, whatever the answer says.
      if (some->next != 0 && (some->next <= next || Clock::now() >= end_)) {
        return missing("the time for all sync blocks was over");
      }
      next = some->next;
    }
  }

  void add_block(const ClrSyncBlock& block, const std::unordered_map<std::uint64_t, std::uint32_t>& owners) {
    if (full()) return;
    if (!blocks_.try_emplace(block.address, found_.monitors.size()).second) return;
    Lock lock{.address = block.object, .held = block.held};
    if (const auto owner = owners.find(block.owner); block.held && owner != owners.end()) lock.owner = owner->second;
    if (lock.owner != 0) lock.recursion = block.recursion;
    found_.monitors.push_back({std::move(lock), block.address});
  }

  bool full() {
    if (found_.monitors.size() < limits_.locks) return false;
    missing(kTooManyLocks);
    return true;
  }

  // Finds the innermost record of what the thread waits for. After a pulse, a thread in Monitor.Wait waits to enter
  // again.
  void find_waiter(const ClrThread& thread, const ThreadStack& stack) {
    std::array<std::uint64_t, kThreadBytes / 8> words{};
    const std::size_t bytes = memory_.read_up_to(thread.address, words.data(), kThreadBytes);
    for (std::size_t i = 0; i < bytes / 8; ++i) {
      const std::uint64_t at = words[i];
      if (at % 8 != 0 || at < std::max(stack.limit, stack.top) || at >= stack.base) continue;
      const auto record = memory_.read_value<BlockingRecord>(at);
      if (!record || record->domain == 0 || record->domain != thread.domain || record->kind > kPulse) continue;
      const auto block = blocks_.find(record->lock);
      if (block == blocks_.end()) continue;
      Lock& lock = found_.monitors[block->second].lock;
      // If the thread holds the lock by now, the data that was read is of two moments.
      if (lock.owner == thread.os_id) return;
      lock.waiters.push_back({thread.os_id, record->kind == kPulse});
      return;
    }
  }

  bool in_image(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(images_, address, {}, &Module::base);
    return next != images_.begin() && address - std::prev(next)->base < std::prev(next)->size;
  }

  void find_thin_locks(const ClrThread& thread, const ThreadStack& stack) {
    if (stack.top == 0 || thread.managed_id == 0 || thread.managed_id > kThinOwner) return;
    std::unordered_set<std::uint64_t> seen;
    std::array<std::uint64_t, kPieceBytes / 8> words;
    const std::uint64_t begin = (std::max(stack.limit, stack.top) + 7) & ~7ull;
    const std::uint64_t end = std::min(stack.base, begin + kMaxStackBytes);
    for (std::uint64_t at = begin; at < end; at += kPieceBytes) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - at));
      const std::size_t bytes = memory_.read_up_to(at, words.data(), wanted);
      for (std::size_t i = 0; i < bytes / 8; ++i) {
        const std::uint64_t word = words[i];
        if (word % 8 != 0 || !is_user_address(word)) continue;
        if (word >= stack.limit && word < stack.base) continue;
        if (in_image(word) || !seen.insert(word).second) continue;
        if (seen.size() > kMaxWords) return missing("a stack names too many objects");
        look_at_header(thread, word);
      }
      if (bytes < wanted || Clock::now() >= end_) return;
    }
  }

  void look_at_header(const ClrThread& thread, std::uint64_t object) {
    const auto head = memory_.read_value<ObjectHead>(object - 8);
    if (!head || head->padding != 0 || head->method_table == 0 || head->method_table % 8 != 0) return;
    if ((head->header & kNotThin) != 0 || (head->header & kThinOwner) != thread.managed_id) return;
    if (full() || !thin_.insert(object).second) return;
    found_.monitors.push_back({{.address = object,
                                .owner = thread.os_id,
                                .held = true,
                                .recursion = ((head->header & kThinRecursion) >> kThinRecursionShift) + 1},
                               object});
  }

  bool is_thin(const FoundMonitor& found) const { return thin_.contains(found.key); }

  void finish() {
    std::vector<FoundMonitor>& monitors = found_.monitors;
    std::erase_if(monitors, [](const FoundMonitor& found) { return !found.lock.held && found.lock.waiters.empty(); });
    std::vector<std::uint64_t> objects, guesses;
    for (const FoundMonitor& found : monitors) (is_thin(found) ? guesses : objects).push_back(found.lock.address);
    const std::vector<std::string> of_objects = clr_.object_types(objects),
                                   of_guesses = clr_.heap_object_types(guesses);
    auto type = of_objects.begin(), guess = of_guesses.begin();
    for (FoundMonitor& found : monitors) found.lock.type = is_thin(found) ? *guess++ : *type++;
    // Data that looks like an object's header may be something else.
    std::erase_if(monitors, [&](const FoundMonitor& found) { return found.lock.type.empty() && is_thin(found); });
    for (FoundMonitor& found : monitors) std::ranges::sort(found.lock.waiters, {}, &LockWaiter::os_id);
    std::ranges::stable_sort(monitors, {}, [](const FoundMonitor& found) { return found.lock.address; });
  }

  ClrQuestions& clr_;
  const MemoryReader& memory_;
  const std::span<const Module> images_;
  const MonitorLimits limits_;
  const Clock::time_point end_;
  std::map<std::uint32_t, ThreadStack> stacks_;
  std::vector<ClrThread> threads_;
  std::unordered_map<std::uint64_t, std::size_t> blocks_;  // sync block → index in found_
  std::unordered_set<std::uint64_t> thin_;                 // addresses of objects
  FoundMonitors found_;
};

}  // namespace

FoundMonitors find_monitors(ClrQuestions& clr, const MemoryReader& memory, std::span<const ThreadStack> stacks,
                            std::span<const Module> images, const MonitorLimits& limits) {
  return MonitorSearch(clr, memory, stacks, images, limits).find();
}

FoundMonitors consistent_monitors(const FoundMonitors& first, const FoundMonitors& second) {
  std::unordered_map<std::uint64_t, const Lock*> before;
  for (const FoundMonitor& found : first.monitors) before.emplace(found.key, &found.lock);
  FoundMonitors both{{}, first.missing.empty() ? second.missing : first.missing};
  for (const FoundMonitor& found : second.monitors) {
    const auto known = before.find(found.key);
    if (known == before.end()) continue;
    const Lock& old = *known->second;
    // If the type of the lock's object could not be read in one of the two looks, the lock counts as the same lock.
    const bool same_type = old.type == found.lock.type || old.type.empty() || found.lock.type.empty();
    if (old.owner != found.lock.owner || old.held != found.lock.held || !same_type) continue;
    FoundMonitor kept = found;
    if (kept.lock.type.empty()) kept.lock.type = old.type;
    if (old.recursion != kept.lock.recursion) kept.lock.recursion = 0;
    std::erase_if(kept.lock.waiters, [&](const LockWaiter& waiter) {
      return std::ranges::find(old.waiters, waiter) == old.waiters.end();
    });
    if (kept.lock.held || !kept.lock.waiters.empty()) both.monitors.push_back(std::move(kept));
  }
  return both;
}

}  // namespace mixwalk
