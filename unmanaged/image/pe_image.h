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
  std::string_view name;       // empty if exported by ordinal only
  std::uint32_t ordinal = 0;   // with the ordinal base
  std::uint32_t rva = 0;       // 0 for a forwarder
  std::string_view forwarder;  // "OTHER.Function" or "OTHER.#7"; empty if the export is code or data of this image
};

// A PE32+ image file in memory, checked. Every offset in the file is untrusted: data that does not fit is left out or
// is an error. Not frozen-safe (it allocates, in proportion to the file). Views point into `file`, which must outlive
// this object. (Microsoft PE and COFF specification.)
class PeImage {
 public:
  static PeImage parse(std::span<const std::byte> file);

  // If this is not `none`, only machine() may have a meaning.
  PeError error() const noexcept { return error_; }

  std::uint16_t machine() const noexcept { return machine_; }  // IMAGE_FILE_HEADER.Machine
  std::uint32_t timestamp() const noexcept { return timestamp_; }
  std::uint32_t size_of_image() const noexcept { return size_of_image_; }
  // The image is a ReadyToRun image: it holds managed code besides its .pdata.
  bool has_managed_code() const noexcept { return has_managed_code_; }

  // Sorted by RVA.
  std::span<const PeSection> sections() const noexcept { return sections_; }
  // Returns null if the RVA lies in the headers, in a gap, or beyond the image.
  const PeSection* section_at(std::uint32_t rva) const noexcept;
  // Returns whether the RVA lies in an executable section.
  bool is_code(std::uint32_t rva) const noexcept;
  // Returns the zero-terminated string at the RVA. The result is empty if there is none within bounds.
  std::string_view text_at(std::uint32_t rva) const noexcept;
  // Returns the file's bytes for [rva, rva + bytes). Returns nothing if one section of the file does not have all of
  // them.
  std::optional<std::span<const std::byte>> bytes_at(std::uint32_t rva,
                                                     std::size_t bytes) const noexcept;

  // The base at which the loader places the image if it can. Absolute addresses in the file are valid for this base.
  std::uint64_t preferred_base() const noexcept { return preferred_base_; }

  // RVAs of the tables of imported functions; 0 if the image has none. (Imports reads the tables.)
  std::uint32_t import_table() const noexcept { return import_directory_.rva; }
  std::uint32_t delay_import_table() const noexcept { return delay_import_directory_.rva; }

  // Sorted by RVA, forwarders last.
  std::span<const PeExport> exports() const noexcept { return exports_; }

  // One RUNTIME_FUNCTION. A function has several if it is chained (shrink-wrapped, or split into a hot and a cold
  // part). All of these refer to the start of the first one.
  struct Function {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t primary = 0;  // 0 if the unwind data does not say
  };
  // Sorted by `begin`.
  std::span<const Function> functions() const noexcept { return functions_; }
  // Returns the function that covers the RVA; null if the RVA lies in a leaf function or in no code.
  const Function* function_at(std::uint32_t rva) const noexcept;
  // Returns the first function that begins behind the RVA, or null if there is none.
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
