#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mixwalk {

// COR_DEBUG_IL_TO_NATIVE_MAP, as the runtime fills it: the IL offset to which the code from `native_begin` up to
// `native_end` belongs. Both are in bytes from the beginning of the method's code. Values from kSpecial on are not
// offsets, but kinds of code that correspond to no IL.
struct IlToNative {
  static constexpr std::uint32_t kNoMapping = 0xFFFFFFFF, kProlog = 0xFFFFFFFE, kEpilog = 0xFFFFFFFD;
  static constexpr std::uint32_t kSpecial = kEpilog;

  std::uint32_t il_offset = 0;
  std::uint32_t native_begin = 0, native_end = 0;
};

// Returns the IL offset of the code at `native_offset`. The native offset lies inside an instruction. The result is the
// offset of the range in which it lies; 0 in a prolog; in other code that corresponds to no IL, the offset of the code
// before it. Returns nothing if the map has neither. The order of the map does not matter, and nothing in it is
// trusted. Pure.
std::optional<std::uint32_t> il_offset_at(std::span<const IlToNative> map,
                                          std::uint32_t native_offset) noexcept;

}  // namespace mixwalk
