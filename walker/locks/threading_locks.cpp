#include "walker/locks/threading_locks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unmanaged/user_address.h"
#include "walker/clr/heap_walk.h"
#include "walker/clr/old_copies.h"
#include "walker/clr/question_messages.h"
#include "walker/locks/native_waits.h"
#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

constexpr std::string_view kEnter = "System.Threading.Lock.TryEnterSlow(";
constexpr std::string_view kReaderWriter = "System.Threading.ReaderWriterLockSlim.";
constexpr std::string_view kSemaphore = "System.Threading.SemaphoreSlim.Wait";
constexpr std::string_view kWait = "System.Threading.WaitHandle.", kPulse = "System.Threading.Monitor.Wait(";

using Locks = std::map<std::uint64_t, ClrLock>;

struct Waiter {
  const Thread* thread = nullptr;
  bool semaphore = false;
  std::uint64_t end = 0;             // threading_wait_end()
  std::vector<std::uint64_t> words;  // WaitingThreads::all_words_of()
};

// The addresses of those of these locks for which a thread with these words in its registers and stack may wait. The
// lock is among the words, and beside it the event of a Lock or the address of a counter of a ReaderWriterLockSlim
// (ClrLock::kept), since Lock.TryEnterSlow and ReaderWriterLockSlim.WaitOnEvent need them again after the wait.
std::set<std::uint64_t> locks_with_words(std::span<const std::uint64_t> words, const Locks& locks) {
  std::set<std::uint64_t> found;
  for (const std::uint64_t word : words) {
    const auto lock = locks.find(word);
    if (lock == locks.end()) continue;
    const bool kept = std::ranges::any_of(lock->second.kept, [&](std::uint64_t address) {
      return address != 0 && std::ranges::find(words, address) != words.end();
    });
    if (kept) found.insert(word);
  }
  return found;
}

// By which of the three a method waits; empty if it is another one.
std::string_view wait_of(const Frame& frame) {
  for (const std::string_view wait : {kReaderWriter, kSemaphore, kEnter}) {
    if (frame.name.starts_with(wait)) return wait;
  }
  return {};
}

bool waits_for_semaphore(const Thread& thread) {
  for (const StackFrame& frame : thread.stack.frames) {
    if (frame.kind == FrameKind::managed && !wait_of(frame).empty()) return wait_of(frame) == kSemaphore;
  }
  return false;
}

class ThreadingLockSearch {
 public:
  ThreadingLockSearch(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits)
      : snapshot_(snapshot), target_(target), clr_(clr), waiting_(target), limits_(limits),
        end_(std::chrono::steady_clock::now() + limits.time) {
    const auto version = target.runtime().major;
    if (version < 8 || version > 10) return;
    for (const ClrThread& thread : clr.threads()) {
      if (version != 8) owners_.insert(thread.os_id);
      if (thread.os_id != 0 && thread.managed_id != 0) managed_[thread.managed_id] = thread.os_id;
    }
  }

  void add() {
    target_.forget_memory();  // the threads are captured in their present state
    std::vector<Waiter> waiters = find_waiters();
    forget_what_was_read(target_, clr_);
    Locks locks = read(objects_of(waiters));
    leave_out_old_copies(locks, waiters);
    forget_what_was_read(target_, clr_);
    std::vector<std::uint64_t> again;
    for (const auto& [address, lock] : locks) again.push_back(address);
    const Locks later = read(again);
    std::vector<LockReading> readings;
    for (const Waiter& waiter : waiters) {
      // So no result follows from data that was read only in part.
      if (is_past_deadline()) break;
      const std::set<std::uint64_t> found = locks_waited_for(waiter, locks);
      if (found.size() != 1) continue;
      const std::uint64_t address = *found.begin();
      const auto then = locks.find(address);
      const auto now = later.find(address);
      if (now == later.end() || then->second != now->second) continue;
      if (waiting_.all_words_of(*waiter.thread, waiter.end) != waiter.words) continue;
      readings.push_back({lock_of(address, then->second, owner_of(then->second)), waiter.thread->os_id});
    }
    std::vector<Lock> awaited = consistent_locks(readings);
    for (Lock& lock : awaited) {
      if (lock.kind == LockKind::semaphore) leave_monitor(locks.at(lock.address).kept.front(), lock.waiters);
    }
    add_locks(snapshot_, std::move(awaited));
    if (!clr_.obstacle().empty() && snapshot_.locks_missing.empty()) snapshot_.locks_missing = clr_.obstacle();
  }

 private:
  void missing(const char* why) {
    if (snapshot_.locks_missing.empty()) snapshot_.locks_missing = why;
  }

  bool is_past_deadline() {
    if (std::chrono::steady_clock::now() < end_) return false;
    missing(kLocksTimeOver);
    return true;
  }

  std::vector<Waiter> find_waiters() {
    std::vector<Waiter> waiters;
    for (const Thread& thread : snapshot_.threads) {
      const auto end = threading_wait_end(thread);
      if (!end || !is_managed_wait_part(thread, *end)) continue;
      if (is_past_deadline()) break;
      if (waiters.size() == limits_.waiters) {
        missing(kTooManyLocks);
        break;
      }
      Waiter waiter{.thread = &thread,
                    .semaphore = waits_for_semaphore(thread),
                    .end = *end,
                    .words = waiting_.all_words_of(thread, *end)};
      if (!waiter.words.empty()) waiters.push_back(std::move(waiter));
    }
    return waiters;
  }

  bool may_be_object(std::uint64_t word) const {
    if (word % 8 != 0 || !is_user_address(word)) return false;
    const auto first = target_.memory().read_value<std::uint64_t>(word);
    return is_user_address(first.value_or(0) & ~kCollectorMarks);
  }

  // Addresses at which an object may be. If not all words of a waiter fit into the rest of the limit, the waiter is
  // left out, because with only some of them checked, another lock could be taken for the one that the thread waits
  // for.
  std::vector<std::uint64_t> objects_of(std::vector<Waiter>& waiters) {
    std::set<std::uint64_t> objects;
    std::erase_if(waiters, [&](const Waiter& waiter) {
      if (is_past_deadline()) return true;
      std::set<std::uint64_t> added;
      for (const std::uint64_t word : waiter.words) {
        if (!objects.contains(word) && may_be_object(word)) added.insert(word);
      }
      if (objects.size() + added.size() > limits_.objects) {
        missing(kTooManyLocks);
        return true;
      }
      objects.merge(added);
      return false;
    });
    return {objects.begin(), objects.end()};
  }

  // Reads the locks, but only some of them if the time is over.
  Locks read(std::span<const std::uint64_t> objects) {
    Locks locks;
    while (!objects.empty() && !is_past_deadline()) {
      const auto some = objects.first(std::min(objects.size(), kMaxAsked));
      objects = objects.subspan(some.size());
      const std::vector<std::optional<ClrLock>> answers = clr_.lock_objects(some);
      for (std::size_t i = 0; i < some.size() && i < answers.size(); ++i) {
        if (answers[i]) locks[some[i]] = *answers[i];
      }
    }
    return locks;
  }

  // A waiter that has more than one lock among its words may have old copies (old_copies.h).
  void leave_out_old_copies(Locks& locks, const std::vector<Waiter>& waiters) {
    std::set<std::uint64_t> doubtful;
    for (const Waiter& waiter : waiters) {
      std::set<std::uint64_t> found = locks_waited_for(waiter, locks);
      if (found.size() > 1) doubtful.merge(found);
    }
    if (doubtful.empty() || is_past_deadline()) return;
    const std::vector<std::uint64_t> addresses(doubtful.begin(), doubtful.end());
    for (const std::uint64_t copy : old_copies(clr_, addresses)) locks.erase(copy);
  }

  // A lock that the thread itself holds does not count, since it does not wait for such a lock. Semaphores do not say
  // who holds them, and one that the thread has entered before may still be among its words. So the runtime's own
  // record decides: the thread waits for the pulse of the monitor that belongs to its semaphore.
  std::set<std::uint64_t> locks_waited_for(const Waiter& waiter, const Locks& locks) const {
    std::set<std::uint64_t> found = locks_with_words(waiter.words, locks);
    const std::uint32_t thread = waiter.thread->os_id;
    const AwaitedLock monitor = lock_waited_for_by(snapshot_, thread);
    std::erase_if(found, [&](std::uint64_t address) {
      const ClrLock& lock = locks.at(address);
      if (lock.semaphore != waiter.semaphore || owner_of(lock) == thread) return true;
      return lock.semaphore && monitor.lock != nullptr && monitor.lock->address != lock.kept.front();
    });
    return found;
  }

  // Each thread waits for one lock: these wait for the semaphore to which the monitor belongs.
  void leave_monitor(std::uint64_t monitor, const std::vector<LockWaiter>& threads) {
    const auto lock = std::ranges::find(snapshot_.locks, monitor, &Lock::address);
    if (lock == snapshot_.locks.end() || lock->kind != LockKind::monitor) return;
    std::erase_if(lock->waiters, [&](const LockWaiter& waiter) {
      return waiter.pulse && std::ranges::find(threads, waiter.os_id, &LockWaiter::os_id) != threads.end();
    });
    if (lock->is_free() && lock->waiters.empty()) snapshot_.locks.erase(lock);
  }

  // The OS id of the owner; 0 if there is none, or if it is unknown.
  std::uint32_t owner_of(const ClrLock& lock) const {
    if (!lock.held || lock.semaphore) return 0;
    if (!lock.reader_writer) return owners_.contains(lock.owner) ? lock.owner : 0;
    const auto owner = managed_.find(lock.owner);
    return owner == managed_.end() ? 0 : owner->second;
  }

  static Lock lock_of(std::uint64_t address, const ClrLock& read, std::uint32_t owner) {
    const char* const type = read.reader_writer ? "System.Threading.ReaderWriterLockSlim"
                             : read.semaphore   ? "System.Threading.SemaphoreSlim"
                                                : "System.Threading.Lock";
    return {.kind = read.semaphore ? LockKind::semaphore : LockKind::threading_lock,
            .address = address,
            .type = type,
            .owner = owner,
            .held = read.held,
            .recursion = owner != 0 ? read.recursion : 0};
  }

  Snapshot& snapshot_;
  Target& target_;
  ClrQuestions& clr_;
  WaitingThreads waiting_;
  const MonitorLimits limits_;
  const std::chrono::steady_clock::time_point end_;
  std::set<std::uint32_t> owners_;  // the ids by which a System.Threading.Lock names threads; empty if unknown
  // OS ids by managed ids, by which a ReaderWriterLockSlim names threads; empty if unknown.
  std::map<std::uint32_t, std::uint32_t> managed_;
};

}  // namespace

std::optional<std::uint64_t> threading_wait_end(const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  const auto found = frame_of_wait(thread, [](const Frame& frame) { return !wait_of(frame).empty(); });
  if (!found) return std::nullopt;
  const bool waits = std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(*found),
                                 [](const Frame& frame) {
    return frame.kind == FrameKind::managed && (frame.name.starts_with(kWait) || frame.name.starts_with(kPulse));
  });
  if (!waits) return std::nullopt;
  const std::string_view of = wait_of(frames[*found]);
  std::size_t method = *found;
  // The JIT may have made one method of WaitOnEvent and its caller.
  while (of != kEnter && method + 1 < frames.size() && frames[method + 1].name.starts_with(of)) ++method;
  return end_of_arguments(thread, method);
}

bool has_threading_waits(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads, [](const Thread& thread) {
    return threading_wait_end(thread).has_value();
  });
}

void add_threading_locks(Snapshot& snapshot, Target& target, ClrQuestions& clr, const MonitorLimits& limits) {
  if (has_threading_waits(snapshot)) ThreadingLockSearch(snapshot, target, clr, limits).add();
}

}  // namespace mixwalk
