#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Whether a thread with this instruction pointer stands in the system: right behind the instruction
// that went there. Such a thread waits, and is in the middle of nothing of the process's own.
// Frozen-safe.
bool at_system_call(std::uint64_t ip, const MemoryReader& code) noexcept;

}  // namespace mixwalk
