#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace mixwalk {

// Which build of an assembly a file is: the MVID in its metadata (ECMA-335 II.22.30, II.24.2.6). Nothing
// where the file is no assembly, or a damaged one. `image`: a DLL or EXE, 32-bit or 64-bit, as it is on disk.
// Pure.
std::optional<std::array<std::byte, 16>> assembly_mvid(std::span<const std::byte> image);

}  // namespace mixwalk
