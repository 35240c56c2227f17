#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwalk {

// Unpacks data that was packed by deflate (RFC 1951), with or without the header and the checksum of zlib (RFC 1950).
// Pure.
enum class Deflated : std::uint8_t { raw, zlib };

// Deflate cannot expand data by more than this factor.
inline constexpr std::uint64_t kMaxInflation = 1032;

// Fills `into`. Returns false if `packed` does not begin with a stream that gives exactly so many bytes.
bool inflate_into(std::span<const std::byte> packed, Deflated form, std::span<std::byte> into) noexcept;

}  // namespace mixwalk
