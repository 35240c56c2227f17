#pragma once

#include <cstdint>

namespace mixwalk {

// The monotonic clock of the system, in nanoseconds.
//
// On Windows not std::chrono's: under mingw-w64 that is winpthreads' clock, which mixwalk.dll must do without
// (tests/walker/profiler/no_winpthreads.cmake says why).
std::uint64_t steady_time_ns() noexcept;

}  // namespace mixwalk
