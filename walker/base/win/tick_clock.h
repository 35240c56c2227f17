#pragma once

#include <windows.h>

#include <cstdint>

namespace mixwalk {

// The monotonic clock of the system, in nanoseconds. Frozen-safe, except for the constructor.
class TickClock {
 public:
  TickClock() noexcept {
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    per_second_ = static_cast<std::uint64_t>(frequency.QuadPart);
  }

  std::uint64_t now_ns() const noexcept {
    LARGE_INTEGER ticks;
    QueryPerformanceCounter(&ticks);
    return in_ns(static_cast<std::uint64_t>(ticks.QuadPart));
  }
  // Converts a value of QueryPerformanceCounter to nanoseconds.
  std::uint64_t in_ns(std::uint64_t ticks) const noexcept {
    return ticks / per_second_ * 1'000'000'000 + ticks % per_second_ * 1'000'000'000 / per_second_;
  }

 private:
  std::uint64_t per_second_;
};

}  // namespace mixwalk
