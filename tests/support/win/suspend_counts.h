#pragma once

#include <windows.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk {

// Finds the count by suspending the thread and resuming it once.
inline DWORD suspend_count(std::uint32_t thread_id) {
  const UniqueHandle thread(OpenThread(THREAD_SUSPEND_RESUME, FALSE, thread_id));
  const DWORD before = SuspendThread(thread.get());
  ResumeThread(thread.get());
  return before;
}

inline std::vector<DWORD> suspend_counts(std::uint32_t process_id) {
  std::vector<DWORD> counts;
  for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
    counts.push_back(suspend_count(id));
  }
  return counts;
}

// Whether a thread of the process is suspended, and at least so many times. A thread that has ended has no count.
inline bool one_stands(std::uint32_t process_id, DWORD times = 1) {
  return std::ranges::any_of(list_threads(process_id).value_or(std::vector<std::uint32_t>()), [&](std::uint32_t id) {
    const DWORD count = suspend_count(id);
    return count >= times && count != ~0u;
  });
}

inline bool all_are(const std::vector<DWORD>& counts, DWORD count) {
  return !counts.empty() && std::ranges::count(counts, count) == static_cast<std::ptrdiff_t>(counts.size());
}

// Whether, within this time, every thread of the process runs again. A thread that ends just then does not count.
inline bool all_run_within(std::uint32_t process_id, DWORD milliseconds) {
  const ULONGLONG end = GetTickCount64() + milliseconds;
  while (!all_are(suspend_counts(process_id), 0)) {
    if (GetTickCount64() >= end) {
      for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
        const DWORD count = suspend_count(id);
        if (count != 0) std::printf("thread %#x has the suspend count %ld\n", id, static_cast<long>(count));
      }
      return false;
    }
    Sleep(20);
  }
  return true;
}

}  // namespace mixwalk
