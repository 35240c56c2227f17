#pragma once

#include <windows.h>

namespace mixwalk {

// Lets freezes through until the process begins to end. Held during one freeze only, in which no
// call is made that could trigger a GC.
class FreezeGate {
 public:
  // A freeze may begin while one of these lives and is true.
  class Pass {
   public:
    explicit Pass(FreezeGate& gate) noexcept
        : gate_(gate), held_(TryAcquireSRWLockExclusive(&gate.lock_) != 0) {}
    ~Pass() {
      if (held_) ReleaseSRWLockExclusive(&gate_.lock_);
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    explicit operator bool() const noexcept { return held_; }

   private:
    FreezeGate& gate_;
    bool held_;
  };

  // Waits for the freeze under way, and lets no other through, ever.
  void close() noexcept { AcquireSRWLockExclusive(&lock_); }

 private:
  SRWLOCK lock_ = SRWLOCK_INIT;
};

}  // namespace mixwalk
