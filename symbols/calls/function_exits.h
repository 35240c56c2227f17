#pragma once

#include <cstdint>
#include <vector>

#include "symbols/calls/disassembler.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// The places where the code of a function continues without a call: its tail calls, its further parts, or the target of
// a thunk. In RVAs.
struct FunctionExits {
  std::vector<std::uint32_t> code;
  std::vector<std::uint32_t> slots;  // jmp [slot]
  bool unknown = false;  // also to unknown places: through a register, or by a return to a written address
};

// Returns the exits of the function that is entered at `entry` in an image's file: those of the RUNTIME_FUNCTION there,
// or, if there is none, those of the leaf code from `entry` to its end. Nothing is guessed: code that cannot be decoded
// completely, or that is longer than kMaxExitBytes, has unknown exits. Not frozen-safe.
FunctionExits exits_of(const PeImage& image, std::uint32_t entry, Disassembler& disassembler);

// The limit in bytes for one function. Longer functions are seldom wrappers.
inline constexpr std::uint32_t kMaxExitBytes = 64 * 1024;

}  // namespace mixwalk
