#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "walker/model/percentiles.h"

namespace mixwalk {

// Durations of which only the distribution is kept, in constant memory. Each power of two has 16 buckets, so a
// percentile is at most a sixteenth too large.
class DurationHistogram {
 public:
  void add(std::uint64_t ns) noexcept {
    ++counts_[bucket(ns)];
    ++all_;
    max_ = std::max(max_, ns);
  }

  // The value that this percentage of all durations does not exceed, by nearest rank; 0 if there are no durations.
  std::uint64_t percentile(unsigned percent) const noexcept {
    if (all_ == 0) return 0;
    const std::uint64_t rank = (all_ * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::min(last_of(i), max_);
    }
    return max_;
  }
  std::uint64_t max() const noexcept { return max_; }
  Percentiles percentiles() const noexcept { return {percentile(50), percentile(99), max_}; }

 private:
  static constexpr unsigned kBits = 4;
  static constexpr std::uint64_t kEach = 1u << kBits;

  // The first kEach values have a bucket each. A larger value's bucket follows from the kBits after its highest one
  // bit.
  static std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns < kEach) return static_cast<std::size_t>(ns);
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
    return static_cast<std::size_t>((std::uint64_t{shift} + 1) * kEach + ((ns >> shift) - kEach));
  }
  static std::uint64_t last_of(std::size_t bucket) noexcept {
    if (bucket < kEach) return bucket;
    const std::uint64_t shift = bucket / kEach - 1;
    return ((bucket % kEach + kEach + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (64 - kBits + 1) * kEach> counts_{};
  std::uint64_t all_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace mixwalk
