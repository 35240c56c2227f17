#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "walker/suspended/watched_time.h"

namespace mixwalk {

// Admits freezes until the process begins to end. The gate is held during one freeze only, and no call that could
// trigger a GC is made while it is held. One thread freezes, any thread may close the gate.
class FreezeGate {
 public:
  // A freeze may begin while a Pass lives and converts to true.
  class Pass {
   public:
    explicit Pass(FreezeGate& gate) noexcept : gate_(gate) {
      std::uint32_t open = 0;
      held_ = gate_.state_.compare_exchange_strong(open, kFreezing);
    }
    ~Pass() {
      if (held_) gate_.state_.fetch_and(~kFreezing);
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    explicit operator bool() const noexcept { return held_; }

   private:
    FreezeGate& gate_;
    bool held_;
  };

  // From here on the gate admits no freeze. This waits a limited time for the current one, but not if the freezing
  // thread has ended. `freezer`: the thread that freezes; null if there is none.
  //
  // Folklore: ExitProcess ends our thread at any instruction, and only then runs the DllMain of coreclr, which notifies
  // us of the shutdown. So a lock that our thread held would never become free. (Test: ends_test.)
  void close(HANDLE freezer) noexcept {
    state_.fetch_or(kClosed);
    WatchedTime waited(kLongestGapMs, kCloseMs);
    while ((state_ & kFreezing) != 0 && freezer != nullptr && WaitForSingleObject(freezer, 1) == WAIT_TIMEOUT &&
           waited.look(GetTickCount64()) < kCloseMs) {
    }
  }

 private:
  // Far longer than a freeze takes, but still a short delay of the program's end.
  static constexpr std::uint64_t kCloseMs = 1'000;
  static constexpr std::uint64_t kLongestGapMs = 32;  // two ticks of the system's clock
  static constexpr std::uint32_t kFreezing = 1, kClosed = 2;

  std::atomic<std::uint32_t> state_{0};
};

}  // namespace mixwalk
