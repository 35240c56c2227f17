#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mixwalk {

// The ids of all threads of this process, ascending. Not frozen-safe. Throws std::bad_alloc where the
// system has no memory for the list.
std::vector<std::uint32_t> list_threads();

// What SetThreadDescription gave a thread (Windows 10 1607 and later), UTF-8; else empty.
std::string thread_description(HANDLE thread);

}  // namespace mixwalk
