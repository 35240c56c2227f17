#pragma once

#include <cstdint>

namespace mixwalk {

// The monotonic clock of the system, in nanoseconds.
//
// On Windows this is not std::chrono's clock. Under mingw-w64 that clock is winpthreads', and mixwalk.dll must not use
// winpthreads (tests/walker/profiler/no_winpthreads.cmake says why).
std::uint64_t steady_time_ns() noexcept;

}  // namespace mixwalk
