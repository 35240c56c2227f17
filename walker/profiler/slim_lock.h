#pragma once

#include <windows.h>

namespace mixwalk {

// A slim reader/writer lock taken exclusively, by scope. Not std::mutex: winpthreads' keeps a
// handle and thread-local state for every thread of the target that ever calls into this DLL.
// Never held across a call into the CLR, which may trigger a GC and wait for the caller.
class SlimLock {
 public:
  explicit SlimLock(SRWLOCK& lock) noexcept : lock_(lock) { AcquireSRWLockExclusive(&lock_); }
  ~SlimLock() { ReleaseSRWLockExclusive(&lock_); }
  SlimLock(const SlimLock&) = delete;
  SlimLock& operator=(const SlimLock&) = delete;

 private:
  SRWLOCK& lock_;
};

}  // namespace mixwalk
