#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/base/win/tick_clock.h"

namespace mixwalk {

// The counters by which ThreadCpuClock tells the time. A test replaces them. Not frozen-safe.
class CpuCounters {
 public:
  CpuCounters() = default;
  CpuCounters(const CpuCounters&) = delete;
  CpuCounters& operator=(const CpuCounters&) = delete;
  virtual ~CpuCounters() = default;

  // Whether cycles() goes on at one speed, whatever the processor's speed is (an invariant time stamp counter).
  virtual bool cycles_are_steady() const noexcept;
  // The processor's cycles, and the nanoseconds of the system's monotonic clock.
  virtual std::uint64_t cycles() const noexcept;
  virtual std::uint64_t now_ns() const noexcept { return clock_.now_ns(); }
  // What a thread has used so far, in the same cycles, and in nanoseconds. 0 if the call fails. Wine always gives 0
  // cycles. `thread` needs THREAD_QUERY_LIMITED_INFORMATION.
  virtual std::uint64_t thread_cycles(HANDLE thread) const noexcept;
  virtual std::uint64_t thread_ns(HANDLE thread) const noexcept;

 private:
  TickClock clock_;
};

// A thread's counter at one moment.
struct CpuMark {
  std::uint64_t value = 0;
  bool in_cycles = false;
};

// The CPU time of threads, in nanoseconds. Not frozen-safe; nothing has to be frozen for a question. For one thread's
// use. It counts by the cycles that the system counts for each thread at each switch of threads. The alternative,
// GetThreadTimes, counts ticks of the clock on Windows (15.6 ms): a thread that runs for 1 ms after each tick and then
// waits has used nothing by that count. GetThreadTimes is used if the system counts no cycles, or if the processor's
// cycles do not tell the time.
//
// The length of a cycle is not documented anywhere. It is measured, from the creation of this object on, against the
// system's clock.
class ThreadCpuClock {
 public:
  // The calling thread is asked for its cycles. `counters` must outlive this object.
  explicit ThreadCpuClock(const CpuCounters& counters) noexcept;

  bool counts_cycles() const noexcept { return counts_cycles_; }
  CpuMark mark(HANDLE thread) const noexcept;
  // Returns the CPU time of a thread since the mark, and sets the mark to now. Returns 0 and keeps the mark if the
  // thread's counter has not grown, or if a cycle's length is not known yet (in the first millisecond).
  std::uint64_t since(HANDLE thread, CpuMark& mark) noexcept;

 private:
  // The two clocks at one moment.
  struct Moment {
    std::uint64_t cycles = 0, ns = 0;
  };

  Moment moment() const noexcept;
  void measure_cycle() noexcept;

  const CpuCounters& counters_;
  bool counts_cycles_;
  Moment begun_;
  std::uint64_t measured_ns_ = 0;  // for how long a cycle was measured
  double ns_per_cycle_ = 0;        // 0 as long as it is not known
};

}  // namespace mixwalk
