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
  threading_lock,    // System.Threading.Lock
};

// Lock::type of the critical section under which Windows loads and unloads DLLs, and begins and ends threads.
inline constexpr std::string_view kLoaderLock = "loader lock";

// A thread that stands in the wait for a lock.
struct LockWaiter {
  std::uint32_t os_id = 0;
  // It is in Monitor.Wait: it has given the monitor back, and waits to be pulsed. Otherwise it waits to own the lock.
  bool pulse = false;

  bool operator==(const LockWaiter&) const = default;
};

// A lock that is held or waited for, at the moment of the dump.
struct Lock {
  LockKind kind = LockKind::monitor;
  std::uint64_t address = 0;  // of the object, CRITICAL_SECTION or SRWLOCK
  // Of the object: "System.Object"; of a critical section kLoaderLock, or none; empty: unknown, or no object.
  std::string type;
  std::uint32_t owner = 0;    // OS thread id; 0: nobody, or unknown
  // Where owner is 0: somebody holds the lock, and nobody can say which thread (an SRW lock; a thread that has ended).
  bool held = false;
  std::uint32_t recursion = 0;      // how often the owner has entered it; 0: not held, or unknown
  std::vector<LockWaiter> waiters;  // by OS thread id

  bool is_loader_lock() const { return kind == LockKind::critical_section && type == kLoaderLock; }
  bool operator==(const Lock&) const = default;
};

}  // namespace mixwalk
