#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Whether an image contains its portable PDB.
bool has_embedded_pdb(std::span<const DebugEntry> entries) noexcept;

// Returns the portable PDB that is embedded in an image, unpacked: a debug entry of type 17 holds "MPDB", the length,
// and the file as raw deflate. Returns nothing if there is no such entry, or the entry is damaged.
// (https://github.com/dotnet/runtime/blob/main/docs/design/specs/PE-COFF.md) Not frozen-safe.
std::optional<std::vector<std::byte>> embedded_pdb(std::span<const DebugEntry> entries);

}  // namespace mixwalk
