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

// How long to wait for a new thread of ours, which needs the loader lock before it runs its first instruction. A free
// lock is acquired in microseconds, but on a busy machine the thread starts later. Real case: a program with a thousand
// threads, beside other programs on two cores; 5 s were too short (hunt_test).
inline constexpr std::uint32_t kDefaultStartMs = 20'000;

}  // namespace mixwalk
