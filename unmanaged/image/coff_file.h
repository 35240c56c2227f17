#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

struct CoffSection {
  std::string_view name;  // the long name, also if the header only has its offset ("/4")
  std::uint32_t rva = 0;
  std::uint32_t bytes = 0;          // in memory
  std::span<const std::byte> data;  // in the file, without the padding; empty if the file has no data of the section
  bool executable = false;
};

// Reads the parts of a PE32+ file that a reader of debug data needs and that PeImage does not have: the sections by
// name, also those that are not loaded, and the tables of COFF symbols. Unlike PeImage, it also reads a file in which
// only the debug sections are left (objcopy --only-keep-debug). Every offset is untrusted: data that does not fit is
// left out. Not frozen-safe. Views point into `file`, which must outlive this object. (Microsoft, "PE Format": "COFF
// File Header", "Section Table", "COFF String Table".)
class CoffFile {
 public:
  static CoffFile parse(std::span<const std::byte> file);
  // Reads an object file for x64, which is not linked yet: it has the same sections and symbols, but no image.
  static CoffFile parse_object(std::span<const std::byte> file);

  // If this is not `none`, the other functions return nothing of meaning.
  PeError error() const noexcept { return error_; }

  std::uint64_t image_base() const noexcept { return image_base_; }  // as linked, not as loaded
  std::uint32_t size_of_image() const noexcept { return size_of_image_; }
  std::uint32_t timestamp() const noexcept { return timestamp_; }

  // In the order of the headers. That is also the order of the section numbers, with which symbols refer to the
  // sections; the numbers begin at 1.
  std::span<const CoffSection> sections() const noexcept { return sections_; }
  // Returns the first section with that name, or null if there is none.
  const CoffSection* section(std::string_view name) const noexcept;

  // The records of the symbol table, 18 bytes each. There are as many as the file really has.
  std::span<const std::byte> symbol_records() const noexcept { return symbols_; }
  static constexpr std::size_t kSymbolBytes = 18;
  // Returns the zero-terminated string at that offset of the string table; the result is empty if there is none.
  std::string_view long_name(std::uint32_t offset) const noexcept;

 private:
  PeError parse_headers(std::span<const std::byte> file);
  // `coff` is the offset of IMAGE_FILE_HEADER.
  PeError parse_tables(std::span<const std::byte> file, std::uint64_t coff);
  CoffSection parse_section(std::span<const std::byte> file, std::size_t at) const noexcept;

  PeError error_ = PeError::not_pe;
  std::uint64_t image_base_ = 0;
  std::uint32_t size_of_image_ = 0, timestamp_ = 0;
  std::vector<CoffSection> sections_;
  std::span<const std::byte> symbols_, strings_;
};

// Returns the text up to the first zero, or all of the text if it has no zero.
std::string_view text_before_zero(std::span<const std::byte> bytes) noexcept;

}  // namespace mixwalk
