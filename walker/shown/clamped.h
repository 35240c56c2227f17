#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mixwalk {

// For formats with signed numbers: a number that is too large becomes the largest signed number.
constexpr std::int64_t clamped(std::uint64_t value) noexcept {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(value, kMax));
}

}  // namespace mixwalk
