#pragma once

#include <cstdint>
#include <string>

#include "unmanaged/step/memory_reader.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// The command line of the process that a TEB belongs to, read through the PEB, UTF-8; empty if it cannot be read.
// Nothing that is read is trusted. (Microsoft Learn, "TEB", "PEB" and "RTL_USER_PROCESS_PARAMETERS structure
// (winternl.h)".)
std::string command_line_of(const MemoryReader& memory, std::uint64_t teb);

// The stack of the thread that a TEB belongs to; empty if it cannot be read. Nothing that is read is trusted, since a
// TEB may name the stack of another thread. (Microsoft Learn, "NT_TIB structure (winnt.h)".)
StackLimits stack_limits(const MemoryReader& memory, std::uint64_t teb);

// The address of the loader lock, a critical section, read from the PEB; 0 if it cannot be read. Nothing that is read
// is trusted. (PEB.LoaderLock: the public symbols of ntdll.)
std::uint64_t loader_lock(const MemoryReader& memory, std::uint64_t teb);

// Whether the thread that a TEB belongs to loads or unloads DLLs, or initialises a thread, while all others that want
// to do so wait for it (TEB.SameTebFlags, LoadOwner: the public symbols of ntdll since Windows 10; Wine never sets it).
bool is_load_owner(const MemoryReader& memory, std::uint64_t teb);

}  // namespace mixwalk
