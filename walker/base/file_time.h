#pragma once

#include <cstdint>

namespace mixwalk {

// The units of FILETIME, in which Windows gives times and dumps keep them: ticks of 100 ns, since 1601 if they are
// points in time.
inline constexpr std::uint64_t kNsOfTick = 100, kTicksOfMs = 10'000;
inline constexpr std::uint64_t kTicksUntil1970 = 116'444'736'000'000'000;

}  // namespace mixwalk
