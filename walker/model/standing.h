#pragma once

#include <array>
#include <cstdint>
#include <numeric>

namespace mixwalk {

// What a thread did when its stack was taken, by its frames (walker/hang/standings.h). The numbers are those of
// .mixwalk files.
enum class Standing : std::uint8_t {
  unknown,  // there is no stack, or its frames do not show it
  waits,    // it waited: for a lock, a signal, input, a reply, time
  idle,     // it waited for work, which is its purpose
  runs,
};
inline constexpr Standing kLastStanding = Standing::runs;

// The sums of Sample::value by standing.
struct StandingSums {
  std::array<double, 4> values{};  // by Standing. No integers, because the sums may be too large for 64 bits

  void add(Standing standing, std::uint64_t value) noexcept {
    values[static_cast<std::size_t>(standing)] += static_cast<double>(value);
  }
  // The share of all values, from 0 to 1.
  double share(Standing standing) const noexcept {
    const double all = std::accumulate(values.begin(), values.end(), 0.0);
    return all == 0 ? 0 : values[static_cast<std::size_t>(standing)] / all;
  }
};

}  // namespace mixwalk
