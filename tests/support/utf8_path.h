#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Converts a path from UTF-8, which all tests use for paths, and back. (On Windows std::filesystem reads narrow text in
// another encoding, and refuses text that is not ASCII.)
inline std::filesystem::path utf8_path(const std::string& text) {
  return std::u8string(text.begin(), text.end());
}
inline std::string utf8_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace mixwalk
