#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// A path from UTF-8, as all tests have their paths, and back. (std::filesystem reads narrow text of Windows in
// another way, and refuses what is not ASCII.)
inline std::filesystem::path utf8_path(const std::string& text) {
  return std::u8string(text.begin(), text.end());
}
inline std::string utf8_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace mixwalk
