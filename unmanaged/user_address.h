#pragma once

#include <cstdint>

namespace mixwalk {

// Whether a program can have code or data at the address. (Windows x64: from 64 KiB to 128 TiB without 64 KiB.)
// Frozen-safe.
constexpr bool is_user_address(std::uint64_t address) noexcept { return address - 0x1'0000 < 0x7FFF'FFFE'0000; }

}  // namespace mixwalk
