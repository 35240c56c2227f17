#pragma once

#include <cstdint>
#include <unordered_map>

#include "symbols/dwarf/dwarf_attributes.h"
#include "symbols/index/index_builder.h"

namespace mixwalk {

// The names of the functions of one file, by their entries: the linkage name (mangled), or the plain one where there is
// no linkage name, as in C. An entry may take its name from another entry, also of another unit (DW_AT_abstract_origin,
// DW_AT_specification). Names are cached. Not frozen-safe.
class DwarfNames {
 public:
  explicit DwarfNames(Dwarf_Debug debug) noexcept : debug_(debug) {}

  // How many units the file has: libdwarf finds an entry's unit by looking at one after the other.
  void set_units(std::size_t units) noexcept { step_ = 1 + units / 16; }

  // kNoName: it has none. Adds to `work` what the search has cost, in steps of about an attribute's reading.
  NameId of(const DwarfAttributes& function, IndexBuilder& into, std::uint64_t& work);

 private:
  // Entries from one to the next. A concrete function, its abstract one, that one's declaration.
  static constexpr int kMaxChain = 8;
  struct Found {
    NameId linkage = kNoName, plain = kNoName;
  };
  Found search(const DwarfAttributes& entry, IndexBuilder& into, int depth);

  Dwarf_Debug debug_;
  std::uint64_t step_ = 1, work_ = 0;
  std::unordered_map<Dwarf_Off, Found> known_;  // by the entry's offset
};

}  // namespace mixwalk
