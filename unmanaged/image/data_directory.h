#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace mixwalk {

// Reads little-endian numbers at offsets of an untrusted file. A number that does not fit reads as zero and makes
// failed() true. Pure.
class FileReader {
 public:
  explicit FileReader(std::span<const std::byte> file) : file_(file) {}

  template <class T>
  T at(std::uint64_t offset) {
    T value = 0;
    if (offset > file_.size() || sizeof(T) > file_.size() - offset) {
      failed_ = true;
    } else {
      std::memcpy(&value, file_.data() + offset, sizeof(T));
    }
    return value;
  }
  bool failed() const { return failed_; }
  std::span<const std::byte> range(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset) return {};
    return file_.subspan(offset, bytes);
  }

 private:
  std::span<const std::byte> file_;
  bool failed_ = false;
};

// Identifies an image file by its headers. Is nothing if they are not the headers of an image. Pure.
struct ImageStamp {
  std::uint32_t timestamp = 0;      // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint32_t size_of_image = 0;  // bytes
};
std::optional<ImageStamp> image_stamp(std::span<const std::byte> headers);

// Returns where in an image file a data directory (IMAGE_DIRECTORY_ENTRY_*) is, by the headers; the beginning of the
// file is enough. The range has zero bytes if there is no such directory or the headers are damaged. Pure.
struct FileRange {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};
FileRange place_of_directory(std::span<const std::byte> headers, unsigned directory);

// Returns where in an image file the bytes are that the image has at an RVA once it is loaded, by the headers. The
// range has zero bytes if the file does not have that many. Pure.
FileRange place_of_rva(std::span<const std::byte> headers, std::uint32_t rva, std::uint32_t bytes);

// Returns the RVA of a data directory, by the headers; it has zero bytes if there is no such directory. Pure.
struct DirectoryRva {
  std::uint32_t rva = 0, bytes = 0;
};
DirectoryRva rva_of_directory(std::span<const std::byte> headers, unsigned directory);

// Returns the bytes of a data directory (IMAGE_DIRECTORY_ENTRY_*) of an image file in memory, 32-bit or 64-bit, native
// or managed. The result is empty if there is no such directory or the headers are damaged. Views point into `file`.
// Pure. (Microsoft, "PE Format": "Optional Header Data Directories".)
std::span<const std::byte> data_directory(std::span<const std::byte> file, unsigned directory);

// Returns the bytes of the file that the image has at that RVA once it is loaded. The result is empty if the file does
// not have that many bytes.
std::span<const std::byte> bytes_at_rva(std::span<const std::byte> file, std::uint32_t rva,
                                        std::uint32_t bytes);

}  // namespace mixwalk
