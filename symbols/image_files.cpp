#include "symbols/image_files.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>

#include "symbols/shares.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {

namespace {

// Bytes that are read from a share at once. Over a slow line, they must come within the time for which a share may be
// silent.
constexpr std::size_t kSharePart = 64u << 10;

// Reads up to this many bytes from an offset on, or without a number the whole file. Returns nothing if the file cannot
// be read, or is too large to be read whole. Throws if the path is not UTF-8, because libstdc++ for Windows has no
// other way to report that. A path can come from a recording, and a recording may contain any bytes.
std::optional<std::vector<std::byte>> read_range(const std::string& path, std::uint64_t offset,
                                                 std::optional<std::size_t> wanted, std::size_t part,
                                                 const ShareProgress& progress) {
  const std::filesystem::path file(std::u8string(path.begin(), path.end()));
  const std::uintmax_t all = std::filesystem::file_size(file);  // throws if the path is not that of a file
  if (!wanted && all > DiskImageFiles::kMaxImageBytes) return std::nullopt;
  if (offset > all) return std::vector<std::byte>();
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  const std::uintmax_t most = std::min<std::uintmax_t>(wanted.value_or(all), all - offset);
  std::vector<std::byte> contents(static_cast<std::size_t>(most));
  std::size_t read = 0;
  while (in && read < contents.size() && progress()) {
    const std::size_t bytes = std::min(part, contents.size() - read);
    in.read(reinterpret_cast<char*>(contents.data() + read), static_cast<std::streamsize>(bytes));
    read += static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0));
  }
  // The whole file, or what there is.
  if (!in && !wanted) return std::nullopt;
  contents.resize(read);
  return contents;
}

std::optional<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t offset,
                                                std::optional<std::size_t> wanted, std::size_t part = SIZE_MAX,
                                                const ShareProgress& progress = [] { return true; }) {
  try {
    return read_range(path, offset, wanted, part, progress);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// The same for a file on another machine, which may be silent.
std::optional<std::vector<std::byte>> read_shared(const std::string& path, std::uint64_t offset,
                                                  std::optional<std::size_t> wanted) {
  const auto found = std::make_shared<std::optional<std::vector<std::byte>>>();
  const auto read = [=](const ShareProgress& progress) {
    *found = read_file(path, offset, wanted, kSharePart, progress);
  };
  return ask_share(path, read) ? std::move(*found) : std::nullopt;
}

std::optional<std::vector<std::byte>> read_any(const std::string& path, std::uint64_t offset,
                                               std::optional<std::size_t> wanted) {
  return kOpensShares && is_on_share(path) ? read_shared(path, offset, wanted) : read_file(path, offset, wanted);
}

}  // namespace

std::optional<std::vector<std::byte>> DiskImageFiles::read(const std::string& path) {
  return read_any(path, 0, std::nullopt);
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
  return read_any(path, offset, bytes).value_or(std::vector<std::byte>());
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
