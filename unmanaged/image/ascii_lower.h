#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Letters A to Z small, all else as it is: for names of files, whose case means nothing. Not the C
// library's, which asks the locale.
constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

}  // namespace mixwalk
