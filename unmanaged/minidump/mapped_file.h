#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace mixwalk {

// A file whose bytes are read in place, without a copy. The system reads the file page by page: if another program cuts
// the file while it is mapped, the missing part reads as zeros. (Windows does not allow a mapped file to be cut.) Not
// frozen-safe.
class MappedFile {
 public:
  // `path` is UTF-8. If the file cannot be mapped, the object has an error and no bytes.
  explicit MappedFile(const std::string& path);
  // A file that cannot be mapped, such as a pipe, and was read already. `error`: as for error(); there are no bytes
  // then.
  struct Content {
    std::string bytes, error;
  };
  explicit MappedFile(Content content)
      : content_(std::move(content.bytes)),
        bytes_(std::as_bytes(std::span(content_))),
        error_(std::move(content.error)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Is empty if the file is mapped. Otherwise it is one line without the path and without a full stop.
  const std::string& error() const noexcept { return error_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Copies bytes of the file; offset + bytes does not exceed the file's size. In contrast to bytes(), on Linux the
  // pages that are read stay the system's: they do not count as memory of this process.
  void read(std::uint64_t offset, void* into, std::size_t bytes) const noexcept;
  // The file has become shorter, or a part of it could not be read. Then no result that was made from the bytes is
  // valid.
  bool cut() const noexcept;

 private:
  std::string content_;  // empty if the file is mapped
  std::span<const std::byte> bytes_;
  std::string error_;
  int file_ = -1;  // the file descriptor on Linux, while there are bytes
};

}  // namespace mixwalk
