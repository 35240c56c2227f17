#include "symbols/dwarf/dwarf_object.h"

#include <dwarf.h>

namespace mixwalk {

const Dwarf_Obj_Access_Methods_a DwarfObject::kMethods = {
    .om_get_section_info = section_info,
    .om_get_byte_order = [](void*) -> Dwarf_Small { return DW_END_little; },
    .om_get_length_size = [](void*) -> Dwarf_Small { return 4; },
    .om_get_pointer_size = [](void*) -> Dwarf_Small { return 8; },
    .om_get_filesize = [](void* self) { return static_cast<DwarfObject*>(self)->bytes_; },
    .om_get_section_count =
        [](void* self) -> Dwarf_Unsigned { return static_cast<DwarfObject*>(self)->sections_.size(); },
    .om_load_section = load_section,
    .om_relocate_a_section = nullptr,  // linked files have no relocations left
};

int DwarfObject::section_info(void* self, Dwarf_Unsigned index, Dwarf_Obj_Access_Section_a* into, int*) {
  const auto& sections = static_cast<DwarfObject*>(self)->sections_;
  if (index >= sections.size()) return DW_DLV_NO_ENTRY;
  *into = {};
  into->as_name = sections[index].name.c_str();
  into->as_size = sections[index].data.size();
  return DW_DLV_OK;
}

int DwarfObject::load_section(void* self, Dwarf_Unsigned index, Dwarf_Small** data, int*) {
  const auto& sections = static_cast<DwarfObject*>(self)->sections_;
  if (index >= sections.size() || sections[index].data.empty()) return DW_DLV_NO_ENTRY;
  // libdwarf's interface does not say const; it writes only into sections that it relocates.
  *data = reinterpret_cast<Dwarf_Small*>(const_cast<std::byte*>(sections[index].data.data()));
  return DW_DLV_OK;
}

DwarfObject::DwarfObject(const CoffFile& file) {
  dwarf_set_de_alloc_flag(0);
  sections_.emplace_back();  // libdwarf takes number 0 to mean no section, as ELF does
  for (const CoffSection& section : file.sections()) {
    if (!section.name.starts_with(".debug_") || section.data.empty()) continue;
    sections_.push_back({std::string(section.name), section.data});
    bytes_ += section.data.size();
  }
  interface_ = {this, &kMethods};
  DwarfError error(nullptr);
  switch (dwarf_object_init_b(&interface_, nullptr, nullptr, DW_GROUPNUMBER_ANY, &debug_, error)) {
    case DW_DLV_OK:
      return;
    case DW_DLV_NO_ENTRY:
      problem_ = "the file has no DWARF";
      break;
    default:
      problem_ = "damaged DWARF: " + error.text();
  }
  debug_ = nullptr;
}

DwarfObject::~DwarfObject() {
  if (debug_ != nullptr) dwarf_object_finish(debug_);
}

}  // namespace mixwalk
