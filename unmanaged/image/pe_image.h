#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "unmanaged/step/pdata.h"

namespace mixwalk {

enum class PeError : std::uint8_t {
  none,
  not_pe,     // no MZ or no PE header
  truncated,  // a header or table lies beyond the end of the file
  pe32,       // a 32-bit image
  not_x64,    // another machine
  too_many,   // more sections, exports or functions than any image has
};
// One line, no full stop.
std::string_view to_string(PeError error) noexcept;

struct PeSection {
  std::uint32_t rva = 0;
  std::uint32_t bytes = 0;  // in memory
  std::uint32_t file_offset = 0;
  std::uint32_t file_bytes = 0;
  bool executable = false;

  bool contains(std::uint32_t at) const noexcept { return at >= rva && at - rva < bytes; }
};

struct PeExport {
  std::string_view name;       // empty: by ordinal only
  std::uint32_t ordinal = 0;   // with the ordinal base
  std::uint32_t rva = 0;       // 0 for a forwarder
  std::string_view forwarder;  // "OTHER.Function" or "OTHER.#7"; empty: code or data of its own
};

// A PE32+ image file in memory, checked: every offset in the file is untrusted, and whatever does not fit is left out
// or is an error. Not frozen-safe (it allocates, in proportion to the file). Views point into `file`, which must
// outlive this object. (Microsoft PE and COFF specification.)
class PeImage {
 public:
  static PeImage parse(std::span<const std::byte> file);

  // Anything but none: only machine() may have a meaning.
  PeError error() const noexcept { return error_; }

  std::uint16_t machine() const noexcept { return machine_; }  // IMAGE_FILE_HEADER.Machine
  std::uint32_t timestamp() const noexcept { return timestamp_; }
  std::uint32_t size_of_image() const noexcept { return size_of_image_; }
  // ReadyToRun: the image holds managed code beside its .pdata.
  bool has_managed_code() const noexcept { return has_managed_code_; }

  // Sorted by RVA.
  std::span<const PeSection> sections() const noexcept { return sections_; }
  // Null: the RVA lies in the headers, in a gap, or beyond the image.
  const PeSection* section_at(std::uint32_t rva) const noexcept;
  // Whether the RVA lies in a section that is executed.
  bool is_code(std::uint32_t rva) const noexcept;
  // The zero-terminated string at the RVA; empty where there is none within bounds.
  std::string_view text_at(std::uint32_t rva) const noexcept;
  // What the file holds for [rva, rva + bytes): all of it, within one section, or nothing.
  std::optional<std::span<const std::byte>> bytes_at(std::uint32_t rva,
                                                     std::size_t bytes) const noexcept;

  // Where the loader would like the image to be; absolute addresses in the file are made for this base.
  std::uint64_t preferred_base() const noexcept { return preferred_base_; }

  // RVAs of the tables of imported functions; 0: the image has none. (Imports reads them.)
  std::uint32_t import_table() const noexcept { return import_directory_.rva; }
  std::uint32_t delay_import_table() const noexcept { return delay_import_directory_.rva; }

  // Sorted by RVA, forwarders last.
  std::span<const PeExport> exports() const noexcept { return exports_; }

  // One RUNTIME_FUNCTION. A function has several when it is chained (shrink-wrapped, or split into a hot and a cold
  // part); then all of them refer to the begin of the first.
  struct Function {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t primary = 0;  // 0: the unwind data does not say
  };
  // Sorted by begin.
  std::span<const Function> functions() const noexcept { return functions_; }
  // The one that covers the RVA; null: a leaf function, or no code.
  const Function* function_at(std::uint32_t rva) const noexcept;
  // The first that begins behind the RVA; null: none.
  const Function* function_after(std::uint32_t rva) const noexcept;

 private:
  struct Directory {
    std::uint32_t rva = 0, bytes = 0;
  };
  struct ExportTable;

  PeError parse_headers();
  PeError parse_sections(std::uint64_t table, std::uint16_t count);
  PeError parse_functions();
  PeError parse_exports();
  void add_export(const ExportTable& table, std::string_view name, std::uint32_t index);
  std::uint32_t primary_of(const FunctionEntry& entry) const noexcept;

  template <class T>
  std::optional<T> at_offset(std::uint64_t offset) const noexcept;
  template <class T>
  std::optional<T> at_rva(std::uint32_t rva) const noexcept;

  std::span<const std::byte> file_;
  PeError error_ = PeError::not_pe;
  std::uint16_t machine_ = 0;
  std::uint32_t timestamp_ = 0;
  std::uint32_t size_of_image_ = 0;
  std::uint64_t preferred_base_ = 0;
  bool has_managed_code_ = false;
  std::vector<PeSection> sections_;
  Directory export_directory_, exception_directory_, import_directory_, delay_import_directory_;
  std::vector<PeExport> exports_;
  std::vector<Function> functions_;
};

}  // namespace mixwalk
