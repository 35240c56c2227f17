#pragma once

#include <cstddef>

namespace mixwalk {

// A dump at once is of one moment where it can be, from inside and from outside. Threads without a copy of the first
// moment are taken together at the next one; what is left after the last is taken thread by thread.
inline constexpr std::size_t kMostMoments = 8;
inline constexpr std::size_t kMostOverdueMoments = 2;  // of them; each costs the process a whole deadline

// For the stacks of all threads of a moment. Most threads use some KiB of what is committed for them; a stack may grow
// by some more before the thread stands.
inline constexpr std::size_t kLeastArenaBytes = 1 << 20;
inline constexpr std::size_t kStackGrowthBytes = 64 << 10;

}  // namespace mixwalk
