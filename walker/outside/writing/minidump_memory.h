#pragma once

#include <windows.h>

#include <atomic>
#include <functional>
#include <span>

#include "unmanaged/minidump/memory_addition.h"

namespace mixwalk {

// Adds the memory of a suspended process to a minidump that was written without it. Reads and writes a MiB
// at a time. `file`: the dump, GENERIC_WRITE. `process`: PROCESS_QUERY_INFORMATION | PROCESS_VM_READ. Bytes that cannot
// be read, in pages that should be readable, become zeros. Returns a system error, or ERROR_SUCCESS. If it fails or was
// cancelled (ERROR_CANCELLED), the dump is still a valid one without memory. `after_first_piece`, if it is not empty,
// is called when the first memory is in the file. Not frozen-safe.
DWORD append_memory(HANDLE process, HANDLE file, std::span<const DumpedName> names, const std::atomic<bool>& cancelled,
                    std::function<void()> after_first_piece = {});

// Gives the threads of a finished minidump their names, if its writer has not recorded names, and if it has put a
// stream of the kind kNamesRoomStream into the dump. Without that stream nothing is changed. `file`: the dump,
// GENERIC_WRITE. Returns a system error, or ERROR_SUCCESS. Not frozen-safe.
DWORD add_names(HANDLE file, std::span<const DumpedName> names);

// How many bytes of the process's memory a whole dump would contain now, without the dump's tables. `process`:
// PROCESS_QUERY_INFORMATION.
std::uint64_t dumped_bytes(HANDLE process);

}  // namespace mixwalk
