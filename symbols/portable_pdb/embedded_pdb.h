#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Whether an image has its portable PDB in itself.
bool has_embedded_pdb(std::span<const DebugEntry> entries) noexcept;

// The portable PDB that is embedded in an image, unpacked: a debug entry of type 17 holds "MPDB", the length, and the
// file as raw deflate. Nothing where there is no such entry, or where it is damaged.
// (https://github.com/dotnet/runtime/blob/main/docs/design/specs/PE-COFF.md) Not frozen-safe.
std::optional<std::vector<std::byte>> embedded_pdb(std::span<const DebugEntry> entries);

}  // namespace mixwalk
