#pragma once

#include <cstdint>

namespace mixwalk {

// Percentiles of durations, in nanoseconds by nearest rank. All are 0 if there are no durations.
struct Percentiles {
  std::uint64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
  bool operator==(const Percentiles&) const = default;
};

}  // namespace mixwalk
