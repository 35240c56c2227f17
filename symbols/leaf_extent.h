#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// How many bytes of x64 code, from a function's first one on, are certain to be that function's,
// where no unwind data says how long it is. Not a disassembler: bytes are only ever counted out.
// Pure; frozen-safe.
//
// The rule. As long as no byte could be the start of an instruction that ends a function (a return,
// a jump that is always taken, a trap) or calls one that may not return, whatever runs there was
// reached by falling through from the function's start, so it belongs to it. The first such byte is
// itself still reached; what follows it may be another function. A byte that only looks like one
// (part of an operand) ends the certainty too early: an address without a name, not a wrong name.
std::size_t leaf_extent(std::span<const std::byte> code) noexcept;

// The same of an image's code from the RVA on, which no RUNTIME_FUNCTION covers: up to the end of its section,
// or to the next RUNTIME_FUNCTION. Reads no more than `most` bytes, nor than any real leaf function has. 0: the
// file has no such code.
std::uint32_t leaf_bytes(const PeImage& image, std::uint32_t begin, std::uint32_t most) noexcept;

}  // namespace mixwalk
