#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbols/dwarf/dwarf_ranges.h"
#include "symbols/index/index_builder.h"

namespace mixwalk {

// Returns the path of a file in a folder, either of which may be of Windows or of Unix. An absolute name stays as it
// is.
std::string path_in(std::string_view folder, std::string_view name);

// The line table of one compilation unit: its rows, and the paths for its file numbers. Not frozen-safe. (DWARF 5,
// section 6.2.)
class DwarfLines {
 public:
  // The limit in bytes for one unit's table. libdwarf needs 120 bytes for a row, and a row may be one byte. The largest
  // units of a browser that was built with LTO have some 2 MiB.
  static constexpr std::uint64_t kMaxTable = 4 * 1024 * 1024;

  // `unit` is the unit's own entry. A unit without a line table, or with a damaged or too large one, has no lines and
  // files. `section` is .debug_line.
  DwarfLines(Dwarf_Debug debug, Dwarf_Die unit, std::span<const std::byte> section);
  ~DwarfLines();
  DwarfLines(const DwarfLines&) = delete;
  DwarfLines& operator=(const DwarfLines&) = delete;

  // Returns the path of the file with this number (DW_AT_call_file), including its folder; a relative folder is
  // appended to the unit's own. The name is empty if there is no such file.
  NameId file(std::uint64_t number, IndexBuilder& into);
  // Adds all rows that lie in code.
  void add_rows(const CodeSpan& code, IndexBuilder& into);

 private:
  // The maximum number of files. A unit of a browser includes some 5,000; a file with a higher number has no name.
  static constexpr std::uint64_t kMaxFiles = 1'000'000;
  std::string path_of(std::uint64_t number) const;

  Dwarf_Debug debug_;
  Dwarf_Line_Context context_ = nullptr;
  Dwarf_Unsigned version_ = 0;
  struct KnownFile {
    bool known = false;
    NameId name = kNoName;
  };
  std::vector<KnownFile> files_;
};

}  // namespace mixwalk
