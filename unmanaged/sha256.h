#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace mixwalk {

// SHA-256 (FIPS 180-4) of bytes in memory. mixwalk has its own implementation, since it computes only one hash of a few
// kilobytes per image, and those of portable PDBs, and no library serves both builds without adding a licence to
// mixwalk.exe.
std::array<std::byte, 32> sha256(std::span<const std::byte> bytes);

}  // namespace mixwalk
