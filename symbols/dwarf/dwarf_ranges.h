#pragma once

#include <cstdint>
#include <vector>

#include "symbols/dwarf/dwarf_attributes.h"

namespace mixwalk {

// Says which addresses are code of a file. Some addresses in DWARF are not: those of functions that the linker dropped
// (it leaves 0, or some other small or huge number), and those of damaged files.
class CodeSpan {
 public:
  explicit CodeSpan(const CoffFile& file) noexcept;

  // Cuts the range to code. Returns false if nothing of [low, high) is code, because the range does not begin in code
  // or is not a range at all.
  bool to_rvas(std::uint64_t low, std::uint64_t high, std::uint32_t& begin,
               std::uint32_t& end) const noexcept;
  // Returns false if the address is not in code.
  bool to_rva(std::uint64_t address, std::uint32_t& rva) const noexcept;

 private:
  std::uint64_t image_base_;
  std::uint32_t begin_ = UINT32_MAX, end_ = 0;  // RVAs, from the first executable section to the last
};

struct RvaRange {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
};

// Reads the code that an entry covers, by DW_AT_low_pc and DW_AT_high_pc, or by DW_AT_ranges, in the order of the file.
// (DWARF 5, section 2.17.)
class DwarfRanges {
 public:
  DwarfRanges(Dwarf_Debug debug, const CodeSpan& code) noexcept : debug_(debug), code_(code) {}

  // Writes the ranges into `into`, which is cleared first. `unit_base` is DW_AT_low_pc of the entry's compilation unit.
  // Returns how many entries of a list were read, as a measure of the time.
  std::size_t read(Dwarf_Die die, const DwarfAttributes& attributes, std::uint64_t unit_base,
                   std::vector<RvaRange>& into) const;

 private:
  std::size_t read_list(Dwarf_Die die, Dwarf_Attribute attribute, std::uint64_t base,
                        std::vector<RvaRange>& into) const;
  std::size_t read_list_5(Dwarf_Attribute attribute, Dwarf_Half form, std::vector<RvaRange>& into) const;
  void add(std::uint64_t low, std::uint64_t high, std::vector<RvaRange>& into) const;

  Dwarf_Debug debug_;
  CodeSpan code_;
};

}  // namespace mixwalk
