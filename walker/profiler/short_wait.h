#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/base/win/tick_clock.h"
#include "walker/suspended/watched_time.h"

namespace mixwalk {

// Waits until done() is true, for a limited time, and returns whether it is. For threads of the program that wait for
// one of ours, nearly always for microseconds. Not frozen-safe.
//
// The limit is one of real milliseconds: `Sleep(1)` takes up to 16 ms under Windows, so the last part of the wait only
// yields. Time in which this thread does not run hardly counts, because the thread that is waited for may not have run
// either (WatchedTime).
template <class Done>
bool wait_shortly(Done done, std::uint32_t longest_ms) noexcept {
  if (done()) return true;
  constexpr int kYields = 100;
  constexpr std::uint64_t kTwoTicksNs = 32'000'000;
  const std::uint64_t longest_ns = std::uint64_t{longest_ms} * 1'000'000;
  const TickClock clock;
  WatchedTime waited(longest_ns / 5);
  for (int i = 0; !done(); ++i) {
    const std::uint64_t waited_ns = waited.look(clock.now_ns());
    if (waited_ns >= longest_ns) return false;
    if (i < kYields || longest_ns - waited_ns < kTwoTicksNs) {
      SwitchToThread();
    } else {
      Sleep(1);
    }
  }
  return true;
}

}  // namespace mixwalk
