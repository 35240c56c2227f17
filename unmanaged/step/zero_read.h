#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/registers.h"

namespace mixwalk {

// Executes the instruction at registers.rip as if the memory that it reads contained zeros, and moves on to the next
// instruction. It is used for an instruction that has faulted, and writes no memory. `eflags` is as in CONTEXT.EFlags.
// Frozen-safe.
//
// Returns false and changes nothing if the instruction is not one of those with which a table is searched: mov, movsxd,
// movzx, movsx to a register; cmp, test, add, or, and, sub, xor with a register or a number (Intel SDM volume 2).
bool read_as_zero(const MemoryReader& code, Registers& registers, std::uint32_t& eflags) noexcept;

}  // namespace mixwalk
