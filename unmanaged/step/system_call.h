#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Returns whether a thread with this instruction pointer is in a system call, that is, directly behind the instruction
// that made the call. Such a thread waits, and is not in the middle of any work of its own process. Frozen-safe.
bool at_system_call(std::uint64_t ip, const MemoryReader& code) noexcept;

// Returns whether the function at this address begins as every system call of ntdll.dll begins: it moves rcx to r10 and
// the call's number to eax, may test a bit in memory, and makes the call. Returns false if another program has
// overwritten these bytes, as security software does, or if they cannot be read. Frozen-safe. (The shape: ntdll.dll of
// Windows 7 to 11, and of Wine 8.)
bool is_system_call_stub(std::uint64_t address, const MemoryReader& code) noexcept;

}  // namespace mixwalk
