#pragma once

#include <cstdint>
#include <unordered_map>

#include "symbols/dwarf/dwarf_attributes.h"
#include "symbols/index/index_builder.h"

namespace mixwalk {

// What the functions of one file are called, by their entries: the linkage name (mangled), or where there is
// none, as in C, the plain one. An entry may leave its name to another one, also of another unit
// (DW_AT_abstract_origin, DW_AT_specification). Keeps what it has found. Not frozen-safe.
class DwarfNames {
 public:
  explicit DwarfNames(Dwarf_Debug debug) noexcept : debug_(debug) {}

  // kNoName: it has none.
  NameId of(const DwarfAttributes& function, IndexBuilder& into);

 private:
  // Entries from one to the next. A concrete function, its abstract one, that one's declaration.
  static constexpr int kMaxChain = 8;
  struct Found {
    NameId linkage = kNoName, plain = kNoName;
  };
  Found search(const DwarfAttributes& entry, IndexBuilder& into, int depth);

  Dwarf_Debug debug_;
  std::unordered_map<Dwarf_Off, Found> known_;  // by the entry's offset
};

}  // namespace mixwalk
