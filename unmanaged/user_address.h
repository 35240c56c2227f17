#pragma once

#include <cstdint>

namespace mixwalk {

// Where the addresses of programs begin and end. (Windows x64: from 64 KiB to 128 TiB without 64 KiB.)
inline constexpr std::uint64_t kUserBegin = 0x1'0000, kUserEnd = 0x7FFF'FFFF'0000;

// Whether a program can have code or data at the address. Frozen-safe.
constexpr bool is_user_address(std::uint64_t address) noexcept {
  return address - kUserBegin < kUserEnd - kUserBegin;
}

}  // namespace mixwalk
