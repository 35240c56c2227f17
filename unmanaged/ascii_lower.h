#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Converts the letters A to Z to lower case and leaves everything else unchanged. It is meant for file names, which are
// compared without regard to case. The C library's function is not used because it depends on the locale.
constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

}  // namespace mixwalk
