#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mixwalk {

// The ids of all threads of this process, ascending. Returns nothing if the system cannot list them, usually because
// memory is missing. Not frozen-safe.
std::optional<std::vector<std::uint32_t>> list_threads();
// The same for any process. Also returns nothing if the process has ended.
std::optional<std::vector<std::uint32_t>> list_threads(std::uint32_t process_id);

// A thread of the system's list. The times are in ticks of 100 ns, as those of GetThreadTimes.
struct ListedThread {
  std::uint32_t id = 0;
  std::uint64_t created = 0;  // as a FILETIME
  std::uint64_t cpu = 0;      // kernel and user time
};
// The same with the times of the threads: one question to the system for all of them.
std::optional<std::vector<ListedThread>> list_thread_times(std::uint32_t process_id);

// The name that SetThreadDescription gave a thread (Windows 10 1607 and later), UTF-8; empty if there is none.
std::string thread_description(HANDLE thread);

}  // namespace mixwalk
