#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mixwalk {

// Little-endian numbers at offsets of a file that nobody vouches for. What does not fit is zero, and
// failed() from then on. Pure.
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

// The bytes of a data directory of an image file in memory (IMAGE_DIRECTORY_ENTRY_*), 32-bit or 64-bit,
// native or managed; empty where there is none, or the headers are damaged. Views point into `file`. Pure.
// (Microsoft, "PE Format": "Optional Header Data Directories".)
std::span<const std::byte> data_directory(std::span<const std::byte> file, unsigned directory);

// The bytes that the image has at that RVA once it is loaded, of its file; empty: the file has not so many.
std::span<const std::byte> bytes_at_rva(std::span<const std::byte> file, std::uint32_t rva,
                                        std::uint32_t bytes);

}  // namespace mixwalk
