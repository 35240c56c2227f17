#pragma once

#include <cstdint>

namespace mixwalk {

// How long a thread may stand: a walk takes some 100 µs, and a time slice of another thread 15 ms.
inline constexpr std::uint32_t kDefaultDeadlineMs = 50;
// More than this is a hang for the program that waits for the thread.
inline constexpr std::uint32_t kMaxDeadlineMs = 60'000;

}  // namespace mixwalk
