#pragma once

#include <cstdint>

namespace mixwalk {

// How long a thread may be frozen. A walk takes some 100 µs, and a time slice of another thread 15 ms.
inline constexpr std::uint32_t kDefaultDeadlineMs = 50;
// How long all threads of a process may be frozen together. A process may have hundreds of threads, and each takes some
// 200 µs.
inline constexpr std::uint32_t kAtOnceDeadlineMs = 500;
// The longest deadline that may be asked for. A longer one is a hang for the program that waits for the thread.
inline constexpr std::uint32_t kMaxDeadlineMs = 60'000;

}  // namespace mixwalk
