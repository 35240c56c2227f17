#include "symbols/dwarf/dwarf_attributes.h"

namespace mixwalk {

DwarfAttributes::DwarfAttributes(Dwarf_Debug debug, Dwarf_Die die) noexcept : debug_(debug) {
  DwarfError error(debug_);
  if (dwarf_attrlist(die, &list_, &count_, error) != DW_DLV_OK) {
    list_ = nullptr;
    count_ = 0;
  }
}

DwarfAttributes::~DwarfAttributes() {
  for (Dwarf_Signed i = 0; i < count_; ++i) dwarf_dealloc_attribute(list_[i]);
  if (list_ != nullptr) dwarf_dealloc(debug_, list_, DW_DLA_LIST);
}

Dwarf_Attribute DwarfAttributes::find(Dwarf_Half which) const noexcept {
  DwarfError error(debug_);
  for (Dwarf_Signed i = 0; i < count_; ++i) {
    Dwarf_Half found = 0;
    if (dwarf_whatattr(list_[i], &found, error) == DW_DLV_OK && found == which) return list_[i];
  }
  return nullptr;
}

std::optional<std::uint64_t> DwarfAttributes::address(Dwarf_Half which) const noexcept {
  const Dwarf_Attribute attribute = find(which);
  DwarfError error(debug_);
  Dwarf_Addr value = 0;
  if (attribute == nullptr || dwarf_formaddr(attribute, &value, error) != DW_DLV_OK) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> DwarfAttributes::number(Dwarf_Half which) const noexcept {
  const Dwarf_Attribute attribute = find(which);
  DwarfError error(debug_);
  Dwarf_Unsigned value = 0;
  if (attribute == nullptr || dwarf_formudata(attribute, &value, error) != DW_DLV_OK) return std::nullopt;
  return value;
}

std::string_view DwarfAttributes::text(Dwarf_Half which) const noexcept {
  const Dwarf_Attribute attribute = find(which);
  DwarfError error(debug_);
  char* value = nullptr;
  if (attribute == nullptr || dwarf_formstring(attribute, &value, error) != DW_DLV_OK) return {};
  return value;
}

std::optional<Dwarf_Off> DwarfAttributes::reference(Dwarf_Half which) const noexcept {
  const Dwarf_Attribute attribute = find(which);
  DwarfError error(debug_);
  Dwarf_Off value = 0;
  Dwarf_Bool in_info = 0;
  if (attribute == nullptr || dwarf_global_formref_b(attribute, &value, &in_info, error) != DW_DLV_OK ||
      !in_info) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> DwarfAttributes::section_offset(Dwarf_Half which) const noexcept {
  const Dwarf_Attribute attribute = find(which);
  DwarfError error(debug_);
  Dwarf_Off value = 0;
  if (attribute == nullptr) return std::nullopt;
  if (dwarf_global_formref(attribute, &value, error) == DW_DLV_OK) return value;
  return number(which);  // DWARF 3 writes offsets as plain numbers
}

std::optional<std::uint64_t> DwarfAttributes::high_pc(std::uint64_t low) const noexcept {
  const Dwarf_Attribute attribute = find(DW_AT_high_pc);
  DwarfError error(debug_);
  Dwarf_Half form = 0;
  if (attribute == nullptr || dwarf_whatform(attribute, &form, error) != DW_DLV_OK) return std::nullopt;
  switch (form) {
    case DW_FORM_addr:
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
      return address(DW_AT_high_pc);
    default:
      if (const auto distance = number(DW_AT_high_pc)) return low + *distance;
      return std::nullopt;
  }
}

}  // namespace mixwalk
