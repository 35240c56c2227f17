#include "symbols/il_map.h"

namespace mixwalk {

std::optional<std::uint32_t> il_offset_at(std::span<const IlToNative> map,
                                          std::uint32_t native_offset) noexcept {
  const IlToNative* around = nullptr;  // the narrowest range around the offset
  const IlToNative* before = nullptr;  // the last range with IL before the offset
  bool in_prolog = false;
  for (const IlToNative& entry : map) {
    if (entry.native_begin > native_offset) continue;
    const bool inside = native_offset < entry.native_end;
    if (entry.il_offset >= IlToNative::kSpecial) {
      in_prolog = in_prolog || (inside && entry.il_offset == IlToNative::kProlog);
      continue;
    }
    if (inside && (around == nullptr || entry.native_begin >= around->native_begin)) around = &entry;
    if (before == nullptr || entry.native_begin >= before->native_begin) before = &entry;
  }
  if (around != nullptr) return around->il_offset;
  if (in_prolog) return 0;
  if (before != nullptr) return before->il_offset;
  return std::nullopt;
}

}  // namespace mixwalk
