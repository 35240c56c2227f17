#pragma once

#include <cstdint>
#include <vector>

#include "symbols/calls/disassembler.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// Where the code of a function continues without a call: its tail calls, its further parts, or the target of a thunk.
// RVAs.
struct FunctionExits {
  std::vector<std::uint32_t> code;
  std::vector<std::uint32_t> slots;  // jmp [slot]
  bool unknown = false;  // and to places that are not known: through a register, or by a made return
};

// The exits of the function in an image's file that is entered at `entry`: those of the RUNTIME_FUNCTION there;
// otherwise those of the leaf code from there to its end. Nothing is guessed: code that cannot be decoded completely,
// or that is longer than kMaxExitBytes, has unknown exits. Not frozen-safe.
FunctionExits exits_of(const PeImage& image, std::uint32_t entry, Disassembler& disassembler);

// Longer functions are seldom wrappers.
inline constexpr std::uint32_t kMaxExitBytes = 64 * 1024;

}  // namespace mixwalk
