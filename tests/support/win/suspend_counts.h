#pragma once

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstdint>
#include <map>
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

// By thread; ~0 for a thread that has ended since it was listed.
using SuspendCounts = std::map<std::uint32_t, DWORD>;

inline SuspendCounts suspend_counts(std::uint32_t process_id) {
  SuspendCounts counts;
  for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
    counts[id] = suspend_count(id);
  }
  return counts;
}

// Whether a thread of the process is suspended, and at least so many times. Returns as soon as one is found. A thread
// that has ended has no count.
inline bool one_stands(std::uint32_t process_id, DWORD times = 1) {
  return std::ranges::any_of(list_threads(process_id).value_or(std::vector<std::uint32_t>()), [&](std::uint32_t id) {
    const DWORD count = suspend_count(id);
    return count >= times && count != ~0u;
  });
}

inline bool all_are(const SuspendCounts& counts, DWORD count) {
  return !counts.empty() && std::ranges::all_of(counts, [&](const auto& thread) { return thread.second == count; });
}

// Whether, within this time, every thread of the process runs again; otherwise the message says which ones do not.
inline testing::AssertionResult all_run_within(std::uint32_t process_id, DWORD milliseconds) {
  const ULONGLONG end = GetTickCount64() + milliseconds;
  while (true) {
    const SuspendCounts counts = suspend_counts(process_id);
    if (all_are(counts, 0)) return testing::AssertionSuccess();
    if (GetTickCount64() >= end) {
      auto failure = testing::AssertionFailure() << counts.size() << " threads";
      for (const auto& [id, count] : counts) {
        if (count != 0) failure << "; thread " << id << " has the suspend count " << static_cast<long>(count);
      }
      return failure;
    }
    Sleep(20);
  }
}

}  // namespace mixwalk
