#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "unmanaged/win/thread_information.h"
#include "walker/base/win/tick_clock.h"

namespace mixwalk {

// Shows whether a supervisor's thread is still watching the frozen threads. Frozen-safe.
class Heartbeat {
 public:
  // The supervisor's thread; null if there is none. The caller keeps and closes the handle.
  void set_thread(HANDLE thread) noexcept { thread_.store(thread); }
  void beat(std::uint64_t now_ns) noexcept { last_ns_.store(now_ns, std::memory_order_relaxed); }
  // Whether the supervisor's thread has not looked for so long that the program may have stopped it. It might not
  // resume a frozen thread then. Returns false before its first look.
  //
  // Silence is a reason to freeze nothing. It is no reason to do the supervisor's work: see wait_until().
  bool is_silent() const noexcept {
    const std::uint64_t last = last_ns_.load(std::memory_order_relaxed);
    const std::uint64_t now = clock_.now_ns();
    return last != 0 && now > last && now - last > kSilentNs;
  }

  // Waits until done() is true, which the supervisor brings about. Returns earlier if the supervisor cannot do so any
  // more: its thread has ended, or the program keeps it suspended.
  //
  // Folklore: a supervisor that does not run for seconds is not always stopped. Real case: on a machine that stood
  // still, the sampler found a silent supervisor, and undid a suspension in its place. The supervisor had already done
  // so, and was on its way back from ResumeThread, so a suspension of the program was undone. Tests:
  // SupervisorThreadTest.ALateSupervisorIsLeftToItsWork, GroupThreadTest.
  template <class Done>
  void wait_until(Done done) const noexcept {
    for (int suspended = 0; !done() && suspended < kSuspendedLooks;) {
      if (!is_silent()) {
        SwitchToThread();
        continue;
      }
      const HANDLE thread = thread_.load();
      // Under Windows this takes up to a tick of 15.6 ms, and no more than that depends on it.
      if (WaitForSingleObject(thread, 1) != WAIT_TIMEOUT) return;
      suspended = suspend_count(thread).value_or(1) != 0 ? suspended + 1 : 0;
    }
  }

 private:
  static constexpr std::uint64_t kSilentNs = 2'000'000'000;
  // At how many looks in a row the supervisor's thread must be suspended. Others suspend a thread for a moment as well:
  // debuggers, profilers.
  static constexpr int kSuspendedLooks = 50;

  TickClock clock_;
  std::atomic<HANDLE> thread_{nullptr};
  std::atomic<std::uint64_t> last_ns_{0};  // the time of its last look; 0 if never
};

}  // namespace mixwalk
