#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// Returns how many bytes of x64 code, from a function's first byte on, certainly belong to that function, if no unwind
// data says how long it is. This is not a disassembler: it only rules bytes out. Pure; frozen-safe.
//
// The rule: as long as no byte could be the start of an instruction that ends a function (a return, a jump that is
// always taken, a trap) or calls a function that may not return, any code that runs there was reached by falling
// through from the function's start, so it belongs to the function. The first such byte is itself still reached; the
// bytes behind it may be another function. A byte that only looks like such an instruction (part of an operand) ends
// the certainty too early. Then the result is an address without a name, not a wrong name.
std::size_t leaf_extent(std::span<const std::byte> code) noexcept;

// Like leaf_extent(), for the code of an image from the RVA `begin` on, up to the end of the section or to the next
// RUNTIME_FUNCTION. `begin` must not lie in a RUNTIME_FUNCTION. Reads no more than `most` bytes, and no more than any
// real leaf function has. Returns 0 if the file has no such code.
std::uint32_t leaf_bytes(const PeImage& image, std::uint32_t begin, std::uint32_t most) noexcept;

}  // namespace mixwalk
