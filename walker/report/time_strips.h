#pragma once

#include <cstdint>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// The activity of a thread over time, in buckets of equal length over the recording. Each stretch of buckets has the
// stack in which the thread spent most of their time. The size is bounded, however long the recording was.
struct TimeStrip {
  struct Stretch {
    std::uint32_t first = 0, count = 0;  // buckets
    std::uint32_t stack = 0;             // an element of `stacks` (time_strips())
    bool operator==(const Stretch&) const = default;
  };
  std::vector<Stretch> stretches;  // in order; buckets without a sample may be between two of them
};

// The number of buckets for this many threads. It is chosen so that a strip is not finer than a screen, and all strips
// together are not too large.
std::uint32_t bucket_count(std::size_t threads) noexcept;

// Makes one strip per thread. `stacks`: the stack of each sample. In a recording over time, a sample fills the time
// before it that it stands for; any other sample fills its bucket.
std::vector<TimeStrip> time_strips(const Recording& recording, const std::vector<std::uint32_t>& stacks,
                                   std::uint32_t buckets);

}  // namespace mixwalk
