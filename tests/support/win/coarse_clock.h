#pragma once

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
};

}  // namespace mixwalk
