#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Identifies the build of an assembly file by the MVID in its metadata (ECMA-335 II.22.30, II.24.2.6). Returns nothing
// if the file is not an assembly, or is a damaged one. `image` is a DLL or EXE, 32-bit or 64-bit, as it is on disk.
// Pure.
std::optional<std::array<std::byte, 16>> assembly_mvid(std::span<const std::byte> image);
// The same for a file of which only some kilobytes are read. A library of the framework has 16 MB.
std::optional<std::array<std::byte, 16>> assembly_mvid(const ReadFilePart& read);

}  // namespace mixwalk
