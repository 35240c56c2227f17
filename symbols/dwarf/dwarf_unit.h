#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbols/dwarf/dwarf_lines.h"
#include "symbols/dwarf/dwarf_names.h"
#include "symbols/dwarf/dwarf_ranges.h"

namespace mixwalk {

// A compilation unit, as the first pass over a file finds it.
struct DwarfUnit {
  Dwarf_Off die = 0;            // the offset of its entry in .debug_info
  std::uint64_t base = 0;       // its DW_AT_low_pc
  std::uint64_t bytes = 0;      // of .debug_info
};

// Reads one unit into an index: its functions, what is inlined in them, and its lines. Not frozen-safe.
class DwarfUnitReader {
 public:
  DwarfUnitReader(Dwarf_Debug debug, const CodeSpan& code, DwarfNames& names, IndexBuilder& into) noexcept
      : debug_(debug), code_(code), ranges_(debug, code), names_(names), into_(into) {}

  // `line_section` is .debug_line.
  void read(const DwarfUnit& unit, std::span<const std::byte> line_section);

 private:
  void read_children(Dwarf_Die parent, ScopeId scope, int depth);
  void read_entry(Dwarf_Die die, ScopeId scope, int depth);
  ScopeId add_function(Dwarf_Die die);
  ScopeId add_inlined(Dwarf_Die die, ScopeId parent);
  // The properties of an entry that its abbreviation gives. Attributes of entries without code, and parameters of
  // declarations, are not read; therefore an index costs a tenth less (tests/bench/symbols).
  struct Kind {
    bool code = true;       // it says where its code lies; most do not (declarations, abstract functions)
    bool declared = false;  // a declaration: its children are parameters, never code
  };
  Kind kind_of(Dwarf_Die die);
  // Returns false if the unit has cost more than it may; then the rest of it is not read.
  bool spend(std::uint64_t work) noexcept;

  Dwarf_Debug debug_;
  const CodeSpan& code_;
  DwarfRanges ranges_;
  DwarfNames& names_;
  IndexBuilder& into_;
  DwarfLines* lines_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint64_t work_left_ = 0;
  std::vector<RvaRange> code_of_entry_;
  std::unordered_map<int, Kind> kinds_;  // by the number of the unit's abbreviation
};

}  // namespace mixwalk
