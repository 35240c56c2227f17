#include "unmanaged/image/utf16.h"

#include <cstdint>

namespace mixwalk {
namespace {

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[more] | point >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (point >> (6 * i) & 0x3F));
}

}  // namespace

std::string utf8_of_utf16(std::span<const std::byte> text) {
  const std::size_t units = text.size() / 2;
  const auto unit = [&](std::size_t i) {
    return static_cast<std::uint32_t>(text[2 * i]) | static_cast<std::uint32_t>(text[2 * i + 1]) << 8;
  };
  std::string out;
  out.reserve(units);
  for (std::size_t i = 0; i < units; ++i) {
    std::uint32_t point = unit(i);
    if (point == 0) continue;
    if (point >= 0xD800 && point < 0xE000) {
      // The unit behind the first half of a surrogate pair is consumed only if it is the second half.
      const std::uint32_t low = point < 0xDC00 && i + 1 < units ? unit(i + 1) : 0;
      if (low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        ++i;
      } else {
        point = '?';
      }
    }
    append_utf8(out, point);
  }
  return out;
}

}  // namespace mixwalk
