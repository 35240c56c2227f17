#pragma once

#include <cstdint>

namespace mixwalk {

// What many durations come to, in nanoseconds by nearest rank; all 0: there are none.
struct Percentiles {
  std::uint64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
  bool operator==(const Percentiles&) const = default;
};

}  // namespace mixwalk
