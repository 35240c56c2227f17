#pragma once

#include <windows.h>
#include <winternl.h>

#include <cstdint>
#include <optional>

namespace mixwalk {

struct ThreadInformation {
  std::uint64_t teb = 0;  // address in the thread's process
  std::uint32_t process_id = 0;
};

// Returns the information about a thread of any process; the handle has THREAD_QUERY_INFORMATION. Source:
// THREAD_BASIC_INFORMATION (ThreadBasicInformation = 0), which winternl.h leaves out.
inline std::optional<ThreadInformation> thread_information(HANDLE thread) noexcept {
  struct {
    NTSTATUS exit_status;
    std::uint64_t teb;
    std::uint64_t process_id, thread_id;
    ULONG_PTR affinity;
    LONG priority, base_priority;
  } info{};
  if (NtQueryInformationThread(thread, static_cast<THREADINFOCLASS>(0), &info, sizeof info, nullptr) < 0) {
    return std::nullopt;
  }
  return ThreadInformation{info.teb, static_cast<std::uint32_t>(info.process_id)};
}

// Returns how often a thread is suspended; the handle has THREAD_QUERY_INFORMATION. Returns nothing before Windows 8.1.
// Source: THREADINFOCLASS ThreadSuspendCount (35), which winternl.h leaves out. Frozen-safe.
inline std::optional<ULONG> suspend_count(HANDLE thread) noexcept {
  ULONG count = 0;
  if (NtQueryInformationThread(thread, static_cast<THREADINFOCLASS>(35), &count, sizeof count, nullptr) < 0) {
    return std::nullopt;
  }
  return count;
}

}  // namespace mixwalk
