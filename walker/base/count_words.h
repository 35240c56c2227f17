#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mixwalk {

// "1 thread", "3 threads", or "2 processes" with another plural.
inline std::string count_words(std::uint64_t count, std::string_view noun, std::string_view plural = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(noun);
  if (!plural.empty()) return text.append(plural);
  return text.append(noun) + "s";
}

}  // namespace mixwalk
