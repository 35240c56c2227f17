#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace mixwalk {

// SHA-256 (FIPS 180-4) of bytes in memory. Our own, for one hash of a few kilobytes an image: no
// library of it serves both builds without its licence being a matter of mixwalk.exe's.
std::array<std::byte, 32> sha256(std::span<const std::byte> bytes);

}  // namespace mixwalk
