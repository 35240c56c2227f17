#include "symbols/assembly.h"

#include <algorithm>

#include "symbols/byte_cursor.h"

namespace mixwalk {

std::int32_t place_of(const Assembly& assembly, std::vector<Assembly>& among) {
  const auto known = std::ranges::find(among, assembly);
  const auto place = static_cast<std::int32_t>(known - among.begin());
  if (known == among.end()) among.push_back(assembly);
  return place;
}

bool may_be_optimised(std::span<const std::byte> attribute) noexcept {
  constexpr std::uint16_t kProlog = 1;
  constexpr std::size_t kOfModes = 8, kOfFlags = 6;  // with the number of named arguments
  constexpr std::uint32_t kDisableOptimizations = 0x100;  // DebuggingModes
  ByteCursor cursor(attribute);
  if (cursor.u16() != kProlog) return true;
  if (attribute.size() == kOfModes) return (cursor.u32() & kDisableOptimizations) == 0;
  if (attribute.size() != kOfFlags) return true;
  cursor.skip(1);  // whether the JIT tracks sequence points
  return cursor.u8() == 0;
}

}  // namespace mixwalk
