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
  static constexpr std::uint32_t kNotSplit = UINT32_MAX;

  Dwarf_Off die = 0;            // the offset of its entry in .debug_info
  std::uint64_t base = 0;       // its DW_AT_low_pc
  std::uint64_t bytes = 0;      // of .debug_info
  std::uint32_t split = kNotSplit;  // for a skeleton, whose functions are in another file: the number of its SplitUnit
};

// Reads the functions of one unit, and what is inlined in them, into an index. Not frozen-safe.
class DwarfUnitReader {
 public:
  DwarfUnitReader(Dwarf_Debug debug, const CodeSpan& code, DwarfNames& names, IndexBuilder& into) noexcept
      : debug_(debug), code_(code), ranges_(debug, code), names_(names), into_(into) {}

  // `unit` is the unit's own entry, which has `bytes` with all that it contains; `base` is where its code begins, and
  // `lines` names its files.
  void read(Dwarf_Die unit, std::uint64_t bytes, std::uint64_t base, DwarfLines& lines);

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
