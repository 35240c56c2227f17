#pragma once

#include <cstdint>

namespace mixwalk {

// How long a thread may be frozen: a walk takes some 100 µs, and a time slice of another thread 15 ms.
inline constexpr std::uint32_t kDefaultDeadlineMs = 50;
// How long all threads of a process may be frozen together: some 200 µs for each, and hundreds of threads.
inline constexpr std::uint32_t kAtOnceDeadlineMs = 500;
// A longer time is a hang for the program that waits for the thread.
inline constexpr std::uint32_t kMaxDeadlineMs = 60'000;

}  // namespace mixwalk
