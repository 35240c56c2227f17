#pragma once

#include <cstddef>

#include "walker/store/layout.h"

namespace mixwalk {

// How many rows a file may still have of what is counted over all of its dumps.
struct TableRoom {
  std::size_t locks = layout::kMaxLocks;
  std::size_t waiters = layout::kMaxWaiters;
  std::size_t cpu_times = layout::kMaxCpuTimes;
};

}  // namespace mixwalk
