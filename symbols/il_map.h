#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mixwalk {

// COR_DEBUG_IL_TO_NATIVE_MAP, as the runtime fills it: the IL offset that the code from `native_begin` up to
// `native_end` is of, in bytes from the beginning of the method's code. From kSpecial on, the offset is none
// but a kind of code that no IL stands for.
struct IlToNative {
  static constexpr std::uint32_t kNoMapping = 0xFFFFFFFF, kProlog = 0xFFFFFFFE, kEpilog = 0xFFFFFFFD;
  static constexpr std::uint32_t kSpecial = kEpilog;

  std::uint32_t il_offset = 0;
  std::uint32_t native_begin = 0, native_end = 0;
};

// The IL offset of the code at `native_offset`, which lies inside an instruction: of the range that it lies
// in; of a prolog 0; of other code that no IL stands for, that of the code before it. Nothing where the map
// has neither. The order of the map does not matter, and nothing in it is trusted. Pure.
std::optional<std::uint32_t> il_offset_at(std::span<const IlToNative> map,
                                          std::uint32_t native_offset) noexcept;

}  // namespace mixwalk
