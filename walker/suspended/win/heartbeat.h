#pragma once

#include <windows.h>

#include <atomic>

namespace mixwalk {

// Shows whether a supervisor's thread is still watching the frozen threads. Frozen-safe.
class Heartbeat {
 public:
  void beat(ULONGLONG now_ms) noexcept { last_.store(now_ms, std::memory_order_relaxed); }
  // Whether the supervisor's thread has not looked for so long that the program may have stopped it. It might not
  // resume a frozen thread then. Returns false before its first look.
  bool is_silent() const noexcept {
    const ULONGLONG last = last_.load(std::memory_order_relaxed);
    const ULONGLONG now = GetTickCount64();
    return last != 0 && now > last && now - last > kSilentMs;
  }

 private:
  static constexpr ULONGLONG kSilentMs = 2'000;

  std::atomic<ULONGLONG> last_{0};  // GetTickCount64 at its last look; 0 if never
};

}  // namespace mixwalk
