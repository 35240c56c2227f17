#pragma once

#include <cstdint>
#include <vector>

#include "symbols/calls/disassembler.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// A call that may end at a return address. Addresses are RVAs.
struct CallBefore {
  std::uint32_t rva = 0;  // of its first byte
  FlowInstruction instruction;
};

// Returns the calls in an image's file that can end at the return address; a `syscall` instruction counts as a call.
// Instructions cannot be decoded backwards: the bytes before an address can be the end of more than one instruction, so
// each length is tried. The shortest call comes first. The result is empty if there is no call. Not frozen-safe.
std::vector<CallBefore> calls_before(const PeImage& image, std::uint32_t return_rva,
                                     Disassembler& disassembler);

// The answer to the question whether the instruction that ends at an address is a call. The function is decoded from
// its start to find out.
enum class Sweep : std::uint8_t {
  call,     // the instruction that ends at the address is a call; it begins at `rva`
  no_call,  // the instruction that ends at the address is not a call
  unknown,  // no function is known there, or its bytes cannot be read one after another up to the address
};
struct SweepResult {
  Sweep found = Sweep::unknown;
  std::uint32_t rva = 0;
};

// Decodes the function of the return address (its RUNTIME_FUNCTION) from its start, instruction by instruction.
SweepResult sweep_to(const PeImage& image, std::uint32_t return_rva, Disassembler& disassembler);

}  // namespace mixwalk
