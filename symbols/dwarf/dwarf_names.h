#pragma once

#include <cstdint>
#include <unordered_map>

#include "symbols/dwarf/dwarf_attributes.h"
#include "symbols/index/index_builder.h"

namespace mixwalk {

// Finds the names of the functions of one file, by their entries: the linkage name (mangled), or the plain name if
// there is no linkage name, as in C. An entry may take its name from another entry, also one of another unit
// (DW_AT_abstract_origin, DW_AT_specification). Names are cached. Not frozen-safe.
class DwarfNames {
 public:
  explicit DwarfNames(Dwarf_Debug debug) noexcept : debug_(debug) {}

  // Sets how many units the file has. The number matters because libdwarf finds an entry's unit by checking one unit
  // after the other.
  void set_units(std::size_t units) noexcept { step_ = 1 + units / 16; }

  // Returns kNoName if the function has no name. Adds the cost of the search to `work`; one step is about the time of
  // reading an attribute.
  NameId of(const DwarfAttributes& function, IndexBuilder& into, std::uint64_t& work);

 private:
  // The maximum number of entries in a chain: a concrete function, its abstract function, the declaration of that
  // function.
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
