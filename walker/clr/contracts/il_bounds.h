#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbols/il_map.h"

namespace mixwalk {

// How the JIT's map of a method's code to its IL is stored.
enum class IlBoundsForm : std::uint8_t {
  nibbles,     // up to .NET 9: NibbleReader's numbers
  packed,      // .NET 10: fields of the same width for each entry; two bits say what kind of place it is
  packed_fat,  // later: the same with three bits, and a header in another form
};

// Which bytes of a method's debug information have its map. `offset` counts from the beginning of that information.
struct IlBoundsPlace {
  std::uint32_t offset = 0, bytes = 0;
};
// Reads the header; `header`: the first kMaxHeader bytes of the debug information, or as many as there are. Returns
// nothing if it is damaged.
//
// If a profiler has replaced the method's IL and has told the runtime which places of both correspond, there are two
// maps. Then the result is the one of the original IL, because the PDB describes the original IL.
inline constexpr std::size_t kMaxIlBoundsHeader = 48;
std::optional<IlBoundsPlace> find_il_bounds(std::span<const std::byte> header, IlBoundsForm form) noexcept;

// Reads a map; the last entry has no end. Returns nothing if the bytes are no map of code that has `code_bytes` bytes.
// Pure. The memory that it takes is in proportion to the number of bytes.
//
// Source: docs/design/datacontracts/DebugInfo.md of the runtime, public.
std::optional<std::vector<IlToNative>> read_il_bounds(std::span<const std::byte> bytes, IlBoundsForm form,
                                                      std::uint64_t code_bytes);

}  // namespace mixwalk
