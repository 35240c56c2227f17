#pragma once

#include <dwarf.h>
#include <libdwarf.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/dwarf/dwarf_object.h"

namespace mixwalk {

// The attributes of one debugging information entry, all read at once. Not frozen-safe. An attribute whose form is not
// allowed for it counts as missing. (DWARF 5, section 2.2.)
class DwarfAttributes {
 public:
  DwarfAttributes(Dwarf_Debug debug, Dwarf_Die die) noexcept;
  ~DwarfAttributes();
  DwarfAttributes(const DwarfAttributes&) = delete;
  DwarfAttributes& operator=(const DwarfAttributes&) = delete;

  std::size_t count() const noexcept { return static_cast<std::size_t>(count_); }
  // Returns null if the entry has no such attribute. `which` is one of DW_AT_….
  Dwarf_Attribute find(Dwarf_Half which) const noexcept;

  std::optional<std::uint64_t> address(Dwarf_Half which) const noexcept;
  std::optional<std::uint64_t> number(Dwarf_Half which) const noexcept;
  // The view points into the file.
  std::string_view text(Dwarf_Half which) const noexcept;
  // Returns the offset of an entry in the same section.
  std::optional<Dwarf_Off> reference(Dwarf_Half which) const noexcept;
  // Returns an offset in another section; the attribute determines which section.
  std::optional<std::uint64_t> section_offset(Dwarf_Half which) const noexcept;
  // DW_AT_high_pc is an address, or since DWARF 4 the distance from `low`.
  std::optional<std::uint64_t> high_pc(std::uint64_t low) const noexcept;

 private:
  Dwarf_Debug debug_;
  Dwarf_Attribute* list_ = nullptr;
  Dwarf_Signed count_ = 0;
};

}  // namespace mixwalk
