#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Reads image files, from the disk or from a test. Not frozen-safe.
class ImageFiles {
 public:
  virtual ~ImageFiles() = default;
  // Returns the whole file, or nothing if it cannot be read. `path` is UTF-8.
  virtual std::optional<std::vector<std::byte>> read(const std::string& path) = 0;
  // Returns this many bytes of the file from an offset on: fewer if the file ends earlier, none if it cannot be read.
  virtual std::vector<std::byte> read_part(const std::string& path, std::uint64_t offset, std::size_t bytes);
};

// Reads files of this machine and, on Windows, of shares (shares.h), up to kMaxImageBytes each.
class DiskImageFiles final : public ImageFiles {
 public:
  // The largest images in the wild have a quarter of this size.
  static constexpr std::uint64_t kMaxImageBytes = 1ull << 30;
  std::optional<std::vector<std::byte>> read(const std::string& path) override;
  std::vector<std::byte> read_part(const std::string& path, std::uint64_t offset, std::size_t bytes) override;
};

// Whether the path begins with a drive of this machine: C:\x.dll, or \\?\C:\x.dll as the loader writes long paths.
// False for every other path, such as \\server\share\x.dll or \\.\pipe\x.
bool is_on_drive(std::string_view path) noexcept;
// Either system's.
constexpr bool is_separator(char c) noexcept { return c == '\\' || c == '/'; }
// A path of a file in the folder, with the separator that the folder has.
std::string join_path(std::string_view folder, std::string_view name);

// Reads files only on a drive of this machine: their paths come from other processes and from files. Folklore: opening
// a path to another machine sends that machine the user's credentials, and opening a device may make the device act. A
// process can claim such paths for its images (its list of images is its own memory), and a recording can come from any
// source. (Tests: LocalImageFilesTest; HostileTarget in hostile_peer_test.)
class LocalImageFiles final : public ImageFiles {
 public:
  // Files in `folders` are read as well, since the user named these folders. A path that contains ".." does not count
  // as being in a folder.
  explicit LocalImageFiles(ImageFiles& files, std::vector<std::string> folders = {}) noexcept
      : files_(files), folders_(std::move(folders)) {}
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    return may_read(path) ? files_.read(path) : std::nullopt;
  }
  std::vector<std::byte> read_part(const std::string& path, std::uint64_t offset, std::size_t bytes) override {
    return may_read(path) ? files_.read_part(path, offset, bytes) : std::vector<std::byte>();
  }

 private:
  bool may_read(std::string_view path) const noexcept;

  ImageFiles& files_;
  std::vector<std::string> folders_;
};

}  // namespace mixwalk
