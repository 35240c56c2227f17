#pragma once

#include <cstdint>

namespace mixwalk {

// While an object of this class lives, the time of this program passes as on Windows: GetTickCount64 steps by 15.625
// ms, and Sleep, the plain waits and the waits on condition variables end with such a step. Under Wine all of them are
// exact to a millisecond. QueryPerformanceCounter and waitable timers stay exact. Only the calls of the program itself
// are replaced, those of its DLLs are not.
class CoarseClock {
 public:
  CoarseClock();
  ~CoarseClock();
  CoarseClock(const CoarseClock&) = delete;
  CoarseClock& operator=(const CoarseClock&) = delete;

  // Returns right behind a tick, when every wait still has the longest way to go.
  static void wait_for_tick();

  // From here on the waits of this thread with a time limit, also those for a waitable timer, are recorded. What is
  // recorded is when a wait is to end, by its limit and by the ticks. On a busy machine the thread comes back later,
  // which changes nothing here. A thread that was started before the first object of this class may keep the addresses
  // of the system's functions in registers, and is then not recorded.
  static void record_waits(std::uint32_t thread_id);
  static std::uint64_t longest_wait_ns();   // of all waits that were recorded
  static std::uint64_t last_wait_ends_ns();  // of the last one, by TickClock
};

}  // namespace mixwalk
