#include "symbols/image_files.h"

#include <exception>
#include <filesystem>
#include <fstream>

#include "unmanaged/image/ascii_lower.h"

namespace mixwalk {

// Throws where the path is no UTF-8: libstdc++ for Windows has no other way to say so. A path can come
// from a recording, which may hold any bytes.
static std::optional<std::vector<std::byte>> read_whole(const std::string& path) {
  const std::filesystem::path file(std::u8string(path.begin(), path.end()));
  const std::uintmax_t bytes = std::filesystem::file_size(file);
  if (bytes > DiskImageFiles::kMaxImageBytes) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::vector<std::byte> contents(static_cast<std::size_t>(bytes));
  if (!in.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(bytes))) {
    return std::nullopt;
  }
  return contents;
}

std::optional<std::vector<std::byte>> DiskImageFiles::read(const std::string& path) {
  try {
    return read_whole(path);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool is_on_drive(std::string_view path) noexcept {
  constexpr std::string_view kLongPath = "\\\\?\\";
  if (path.starts_with(kLongPath)) path.remove_prefix(kLongPath.size());
  return path.size() > 2 && ascii_lower(path[0]) >= 'a' && ascii_lower(path[0]) <= 'z' &&
         path[1] == ':' && path[2] == '\\';
}

}  // namespace mixwalk
