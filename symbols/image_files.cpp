#include "symbols/image_files.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {

// Throws if the path is not UTF-8, because libstdc++ for Windows has no other way to report that. A path can come from
// a recording, and a recording may contain any bytes.
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

std::vector<std::byte> ImageFiles::read_part(const std::string& path, std::uint64_t offset,
                                             std::size_t bytes) {
  const auto whole = read(path);
  if (!whole || offset > whole->size()) return {};
  const auto begin = whole->begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes, whole->size() - offset))};
}

std::vector<std::byte> DiskImageFiles::read_part(const std::string& path, std::uint64_t offset,
                                                 std::size_t bytes) {
  try {
    const std::filesystem::path file(std::u8string(path.begin(), path.end()));
    const std::uintmax_t all = std::filesystem::file_size(file);  // throws if the path is not that of a file
    if (offset >= all) return {};
    std::ifstream in(file, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(offset));
    std::vector<std::byte> contents(static_cast<std::size_t>(std::min<std::uintmax_t>(bytes, all - offset)));
    in.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
    contents.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return contents;
  } catch (const std::exception&) {
    return {};
  }
}

bool LocalImageFiles::may_read(std::string_view path) const noexcept {
  if (is_on_drive(path)) return true;
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
    if (folder.empty() || !path.starts_with(folder)) return false;
    const std::string_view rest = path.substr(folder.size());
    return !rest.empty() && (is_separator(folder.back()) || is_separator(rest.front())) &&
           rest.find("..") == std::string_view::npos;
  });
}

bool is_on_drive(std::string_view path) noexcept {
  constexpr std::string_view kLongPath = "\\\\?\\";
  if (path.starts_with(kLongPath)) path.remove_prefix(kLongPath.size());
  return path.size() > 2 && ascii_lower(path[0]) >= 'a' && ascii_lower(path[0]) <= 'z' &&
         path[1] == ':' && path[2] == '\\';
}

std::string join_path(std::string_view folder, std::string_view name) {
  std::string path(folder);
  const bool of_windows = is_on_drive(folder) || folder.find('\\') != std::string_view::npos;
  if (path.empty() || !is_separator(path.back())) path += of_windows ? '\\' : '/';
  return path += name;
}

}  // namespace mixwalk
