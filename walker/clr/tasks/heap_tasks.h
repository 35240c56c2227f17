#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "walker/clr/heap_walk.h"
#include "walker/clr/tasks/managed_objects.h"

namespace mixwalk {

// What the heap has of tasks: for questions that no reference answers.
struct HeapTasks {
  struct Task {
    std::uint64_t address = 0;
    std::uint64_t continuation = 0;  // m_continuationObject; 0 if none

    bool operator==(const Task&) const = default;
  };
  std::vector<Task> tasks;  // that have not ended, sorted by address
  // SemaphoreSlims for which tasks wait: the first of these tasks, and the semaphore.
  std::unordered_map<std::uint64_t, std::uint64_t> semaphores;
  bool whole = false;  // the whole heap was read
};

// Walks through the heap once. At most so many tasks are kept. Nothing of the target is trusted. Not frozen-safe.
HeapTasks read_heap_tasks(ManagedObjects& objects, std::size_t most, HeapDeadline deadline);

// For each of HeapTasks::tasks, how many tasks are before it in its chain: the method that awaits it, the one that
// awaits that method, and so on. 0 for a task that no method awaits, for all that is known. Nobody awaits the box of an
// iterator, so a chain through `await foreach` counts as several. Ends at `end`. Not frozen-safe.
std::vector<std::uint32_t> depths_in_chains(ManagedObjects& objects, const HeapTasks& heap, HeapDeadline end);

// The tasks whose continuation is one of these objects, or a list with one of them: for each object, its tasks, and
// no more than kMaxAwaits + 1. Ends at `end`.
std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> tasks_that_continue_with(
    ManagedObjects& objects, const HeapTasks& heap, const std::vector<std::uint64_t>& wanted, HeapDeadline end);

}  // namespace mixwalk
