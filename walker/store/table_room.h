#pragma once

#include <cstddef>

#include "walker/store/layout.h"

namespace mixwalk {

// How many more rows a file may have of the kinds whose limit is for all of its dumps together.
struct TableRoom {
  std::size_t locks = layout::kMaxLocks;
  std::size_t waiters = layout::kMaxWaiters;
  std::size_t sharers = layout::kMaxSharers;
  std::size_t tasks = layout::kMaxTasks;
  std::size_t task_numbers = layout::kMaxTaskNumbers;
  std::size_t exceptions = layout::kMaxExceptions;
  std::size_t cpu_times = layout::kMaxCpuTimes;
};

}  // namespace mixwalk
