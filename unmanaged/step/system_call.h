#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Returns whether a thread with this instruction pointer is in a system call, that is, directly behind the instruction
// that made the call. Such a thread waits, and is not in the middle of any work of its own process. Frozen-safe.
bool at_system_call(std::uint64_t ip, const MemoryReader& code) noexcept;

}  // namespace mixwalk
