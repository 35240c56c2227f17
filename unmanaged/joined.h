#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// "a, b, c". `texts`: of std::string.
std::string joined(const auto& texts, std::string_view separator) {
  std::string text;
  for (const std::string& one : texts) {
    if (&one != &*texts.begin()) text += separator;
    text += one;
  }
  return text;
}

}  // namespace mixwalk
