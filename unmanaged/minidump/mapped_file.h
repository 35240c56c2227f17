#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mixwalk {

// A file whose bytes are read in place, without a copy. The system reads them page by page: where another program cuts
// the file while it is mapped, the missing part reads as zeros. (Windows does not allow a mapped file to be cut.) Not
// frozen-safe.
class MappedFile {
 public:
  // `path`: UTF-8. A file that cannot be mapped has an error, and no bytes.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Empty: the file is there. Else one line without the path, no full stop.
  const std::string& error() const noexcept { return error_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // The file is shorter than it was, or a part of it could not be read: nothing that was made of the bytes counts.
  bool cut() const noexcept;

 private:
  std::span<const std::byte> bytes_;
  std::string error_;
  int file_ = -1;  // of Linux, while there are bytes
};

}  // namespace mixwalk
