#include "walker/base/printable.h"

#include <cstdint>

#include "walker/base/utf8.h"

namespace mixwalk {
namespace {

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

// Characters that reorder or break their line, so that the visible text differs from the real one.
bool is_layout(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string escaped(char letter, std::uint32_t value, int digits) {
  std::string text = {'\\', letter};
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[value >> shift & 0xF];
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::size_t used = character.bytes == 0 ? 1 : character.bytes;
    std::string piece(text.substr(0, used));
    if (character.bytes == 0) {
      piece = escaped('x', static_cast<unsigned char>(text[0]), 2);
    } else if (is_control(character.code) && character.code < 0x80) {
      piece = escaped('x', character.code, 2);
    } else if (is_control(character.code) || is_layout(character.code)) {
      piece = escaped('u', character.code, 4);
    }
    if (out.size() + piece.size() > max_bytes) return out + "…";
    out += piece;
    text.remove_prefix(used);
  }
  return out;
}

std::string quoted_name(std::string_view name, std::size_t max_bytes) {
  std::string out = "\"";
  for (const char c : printable(name, max_bytes)) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string quoted_path(std::string_view path) {
  constexpr std::size_t kMaxShown = 1000;
  return '"' + printable(path, kMaxShown) + '"';
}

}  // namespace mixwalk
