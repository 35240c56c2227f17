#pragma once

#include <windows.h>
#include <x86intrin.h>

#include <cstdint>

namespace mixwalk::bench {

// Reads the processor's own clock. QueryPerformanceCounter is a system call under Wine, and costs as much as the
// measured work. Frozen-safe.
inline std::uint64_t cycles() noexcept {
  return __rdtsc();
}

// Returns the cycles in a nanosecond, measured once over some milliseconds. Not frozen-safe.
double cycles_per_ns();

// Adds the time of a scope to a sum.
class Timed {
 public:
  explicit Timed(std::uint64_t& sum) noexcept : sum_(sum), begun_(cycles()) {}
  ~Timed() { sum_ += cycles() - begun_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  std::uint64_t& sum_;
  std::uint64_t begun_;
};

}  // namespace mixwalk::bench
