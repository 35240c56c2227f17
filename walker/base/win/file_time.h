#pragma once

#include <windows.h>

#include "walker/base/file_time.h"

namespace mixwalk {

// A FILETIME as one number, in ticks of 100 ns.
inline std::uint64_t ticks_of(const FILETIME& time) noexcept {
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

}  // namespace mixwalk
