#pragma once

#include <cstddef>

namespace mixwalk {

// How many moments a dump at once may have, from inside or from outside. If possible, all its copies are of one moment.
// Threads without a copy of the first moment are captured together at the next one; threads without a copy after the
// last moment are captured one by one.
inline constexpr std::size_t kMaxDumpMoments = 8;
inline constexpr std::size_t kMaxOverdueMoments = 2;  // each costs the process a whole deadline

// Room for the stacks of all threads of a moment. Most threads use some KiB of their committed stack; a stack may still
// grow by some KiB before the thread is suspended.
inline constexpr std::size_t kMinArenaBytes = 1 << 20;
inline constexpr std::size_t kStackGrowthBytes = 64 << 10;

}  // namespace mixwalk
