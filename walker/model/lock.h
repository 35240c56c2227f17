#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

enum class LockKind : std::uint8_t {
  monitor,           // of a managed object: `lock` in C#
  critical_section,  // CRITICAL_SECTION
  srw_lock,          // SRWLOCK
  threading_lock,    // System.Threading.Lock, or ReaderWriterLockSlim; `type` says which
  // The kinds that a wait chain of the system reports. These locks have no address; `type` is the name of the object,
  // if it has one.
  mutex,         // a mutex of the system; its owner holds it
  send_message,  // the answer to a window message (SendMessage); its owner is the thread of the window
  com_call,      // the answer to a COM call or activation; its owner is the thread that serves the call
  local_call,    // the answer to a local procedure call (ALPC); its owner is the thread that serves the call
  thread_end,    // the end of a thread; its owner is that thread
  // The pause of all managed code, as for a garbage collection. The runtime's thread that makes it waits for the owner,
  // which is in a system call and has not told the runtime that it may go on without it. No address either.
  pause,
  // A SemaphoreSlim, by its address. Any thread may release it, so its owner is known only if the program's own fields
  // or stacks prove it. What waits for it without a thread is in AsyncTask::object.
  semaphore,
  // The end of a callback of a CancellationToken, for which CancellationTokenRegistration.Dispose waits; its owner is
  // the thread that runs the callback. No address; `type` is that of the token.
  callback,
};
inline constexpr LockKind kLastLockKind = LockKind::callback;

// Whether the owner has entered the lock, and can leave it. If not, the owner has to give an answer, to end, or to
// reach the end of a callback.
constexpr bool is_held(LockKind kind) noexcept { return kind <= LockKind::mutex || kind == LockKind::semaphore; }

// Whether the owner may enter the lock once more. An SRW lock or a semaphore blocks its own owner.
constexpr bool can_enter_again(LockKind kind) noexcept {
  return is_held(kind) && kind != LockKind::srw_lock && kind != LockKind::semaphore;
}

// Lock::type of the critical section under which Windows loads and unloads DLLs, and starts and ends threads.
inline constexpr std::string_view kLoaderLock = "loader lock";

// A thread that waits for a lock.
struct LockWaiter {
  std::uint32_t os_id = 0;
  // Whether the thread is in Monitor.Wait: it has released the monitor, and waits to be pulsed. Otherwise it waits to
  // own the lock.
  bool pulse = false;

  bool operator==(const LockWaiter&) const = default;
};

// A lock that is held or waited for, at the moment of the dump.
struct Lock {
  LockKind kind = LockKind::monitor;
  std::uint64_t address = 0;  // of the object, CRITICAL_SECTION or SRWLOCK; 0 for the kinds of a wait chain
  // The type of a monitor's object ("System.Object"), of a threading_lock, or kLoaderLock for that critical section.
  // Empty if there is none, or if it is unknown.
  std::string type;
  std::uint32_t owner = 0;  // OS thread id; 0 if none or unknown, or if `type` names a foreign thread
  // Whether a thread holds the lock although `owner` is 0, because it is not known which (an SRW lock, or a thread that
  // has ended).
  bool held = false;
  // How often the owner has entered it, or all that hold it together; 0 if it is not held, or if unknown.
  std::uint32_t recursion = 0;
  std::vector<LockWaiter> waiters;  // sorted by OS thread id

  // The threads that hold it together: readers of a ReaderWriterLockSlim (also one that may write later), or threads
  // that have entered a semaphore and not released it. Sorted OS thread ids; only those that are proven. `owner` is 0
  // then.
  std::vector<std::uint32_t> sharers = {};
  // The async methods that have entered a semaphore and not released it: ascending indices into Snapshot::tasks; only
  // those that are proven.
  std::vector<std::uint32_t> task_holders = {};

  bool is_free() const { return owner == 0 && !held && sharers.empty() && task_holders.empty(); }
  // Whether all that hold it are known. `recursion` must say so where several can hold it, since each of them that
  // releases a semaphore is enough for the next one.
  bool has_all_holders() const {
    if (sharers.empty() && task_holders.empty()) return owner != 0;
    return recursion != 0 && recursion <= sharers.size() + task_holders.size();
  }
  bool is_loader_lock() const { return kind == LockKind::critical_section && type == kLoaderLock; }
  bool operator==(const Lock&) const = default;
};

}  // namespace mixwalk
