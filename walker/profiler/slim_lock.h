#pragma once

#include <windows.h>

#include <atomic>

namespace mixwalk {

// A slim reader/writer lock that is taken exclusively, for a scope, or is not taken at all. The program may have ended
// or suspended the lock's owner, and no thread of the program may then wait without end. It is not std::mutex, because
// winpthreads' mutex keeps a handle and thread-local state for every thread of the target that ever calls into this
// DLL. The lock is never held across a call into the CLR, because the CLR may trigger a GC and wait for the caller.
class SlimLock {
 public:
  // The lock is held for microseconds, but on a very busy machine it may take longer.
  static constexpr DWORD kLongestMs = 2'000;

  explicit SlimLock(SRWLOCK& lock) noexcept : lock_(lock), held_(acquire(lock)) {}
  ~SlimLock() {
    if (held_) ReleaseSRWLockExclusive(&lock_);
  }
  SlimLock(const SlimLock&) = delete;
  SlimLock& operator=(const SlimLock&) = delete;

  // Returns false if the lock did not become free in time.
  explicit operator bool() const noexcept { return held_; }

 private:
  // The system has no wait with a time limit for such a lock. If a lock did not become free in time, its owner has
  // ended or is suspended, and from then on no thread waits for any SlimLock.
  static bool acquire(SRWLOCK& lock) noexcept {
    constexpr int kYields = 100;
    for (int i = 0; i < kYields; ++i) {
      if (TryAcquireSRWLockExclusive(&lock)) return true;
      SwitchToThread();
    }
    // Tries are counted as well, because while a machine sleeps or a debugger stops the program, the time passes and
    // the owner of the lock does not run.
    constexpr int kTries = 128;
    const ULONGLONG begun = GetTickCount64();
    for (int i = 0; !owner_lost_; ++i) {
      if (TryAcquireSRWLockExclusive(&lock)) return true;
      if (i >= kTries && GetTickCount64() - begun >= kLongestMs) owner_lost_ = true;
      Sleep(1);
    }
    return false;
  }

  static inline std::atomic<bool> owner_lost_{false};

  SRWLOCK& lock_;
  const bool held_;
};

}  // namespace mixwalk
