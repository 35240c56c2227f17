#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The headers of a loaded x64 image: in this process, in another process or in a dump. Nothing that is read is trusted.
// Frozen-safe if the memory is. The memory must outlive this object. (Microsoft, "PE Format".)
class ImageHeaders {
 public:
  // Returns nothing if no image is loaded at `base` or its headers cannot be read.
  static std::optional<ImageHeaders> read(const MemoryReader& memory, std::uint64_t base) noexcept;

  std::uint64_t base() const noexcept { return base_; }
  std::uint32_t timestamp() const noexcept { return field(kTimestampAt); }
  std::uint32_t size_of_image() const noexcept { return field(kSizeOfImageAt); }
  std::uint32_t size_of_headers() const noexcept { return field(kSizeOfHeadersAt); }
  // The offsets of the PE header and of the section table from the base.
  std::uint32_t pe_offset() const noexcept { return pe_offset_; }
  std::uint32_t section_table() const noexcept { return sections_; }

  struct Directory {
    std::uint32_t rva = 0, bytes = 0;
  };
  // `which` is one of IMAGE_DIRECTORY_ENTRY_*, below 16. The result is empty if the image has no such directory.
  Directory directory(unsigned which) const noexcept;
  static constexpr unsigned kExceptionTable = 3, kDebugTable = 6, kImportAddresses = 12, kClrHeader = 14;

  struct Section {
    std::uint32_t rva = 0;
    std::uint32_t virtual_bytes = 0, file_bytes = 0;
    std::uint32_t flags = 0;  // IMAGE_SCN_*
    bool executable() const noexcept { return (flags & 0x2000'0000) != 0; }
    bool readable() const noexcept { return (flags & 0x4000'0000) != 0; }
    bool writable() const noexcept { return (flags & 0x8000'0000) != 0; }
  };
  // Returns nothing if there is no section with that number.
  std::optional<Section> section(std::uint32_t number) const noexcept;
  std::uint32_t section_count() const noexcept { return field(kSectionCountAt) >> 16; }

  // A number that distinguishes the image from every other image: two images differ in their time stamps, sizes or
  // directories.
  std::uint64_t identity() const noexcept;

 private:
  // IMAGE_NT_HEADERS64, and the offsets of its fields.
  static constexpr std::size_t kNtBytes = 264;
  static constexpr std::size_t kSectionCountAt = 4, kTimestampAt = 8, kOptionalBytesAt = 20, kMagicAt = 24,
                               kSizeOfImageAt = 24 + 56, kSizeOfHeadersAt = 24 + 60,
                               kDirectoriesAt = 24 + 112;

  ImageHeaders(const MemoryReader& memory, std::uint64_t base) noexcept : memory_(&memory), base_(base) {}
  bool read_bytes(std::uint32_t offset, void* into, std::size_t bytes) const noexcept;
  std::uint32_t field(std::size_t at) const noexcept;

  const MemoryReader* memory_;
  std::uint64_t base_;
  // Nearly all images have their headers in their first page. That page is read at once.
  std::array<std::byte, 4096> page_;
  std::size_t page_bytes_ = 0;
  std::array<std::byte, kNtBytes> nt_;
  std::uint32_t pe_offset_ = 0;
  std::uint32_t sections_ = 0;  // the offset of the section headers
};

}  // namespace mixwalk
