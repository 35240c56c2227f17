#pragma once

#include <cstdint>
#include <string>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The command line of the process that a TEB belongs to, UTF-8, by the PEB; empty: it cannot be read. Nothing that
// is read is trusted. (Microsoft Learn, "TEB", "PEB" and "RTL_USER_PROCESS_PARAMETERS structure (winternl.h)".)
std::string command_line_of(const MemoryReader& memory, std::uint64_t teb);

}  // namespace mixwalk
