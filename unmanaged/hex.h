#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace mixwalk {

// "0x1f4".
inline std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return std::string("0x").append(digits.data(), end);
}

}  // namespace mixwalk
