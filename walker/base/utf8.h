#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mixwalk {

// One character of UTF-8. `bytes` is 0 if the text begins with no valid character.
struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

// The first character of a text that is not empty, by RFC 3629: overlong forms, surrogates, and values past U+10FFFF
// are not valid.
Utf8Character first_character(std::string_view text) noexcept;

// The text with U+FFFD in place of each byte that belongs to no character. Names come from the target, and the readers
// of most formats refuse a whole document because of one bad byte.
std::string valid_utf8(std::string_view text);

// The first `most` bytes of a text of UTF-8, or fewer, so that no character is cut.
std::string_view cut_text(std::string_view text, std::size_t most) noexcept;

}  // namespace mixwalk
