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

// The name that SetThreadDescription gave a thread (Windows 10 1607 and later), UTF-8; empty if there is none.
std::string thread_description(HANDLE thread);

}  // namespace mixwalk
