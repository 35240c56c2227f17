#include "symbols/dwarf/dwarf_object.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/byte_cursor.h"
#include "symbols/inflated.h"

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
    if (section.name.starts_with(".zdebug_") && !add_packed(section)) {
      problem_ = "damaged DWARF: the compressed section " + std::string(section.name) + " cannot be unpacked";
      damaged_ = true;
      return;
    }
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
      damaged_ = true;
  }
  debug_ = nullptr;
}

// "ZLIB", the length with its highest byte first, and a zlib stream. (GNU's "gABI compression style zlib-gnu"; the
// binutils write no other form into PE files.)
bool DwarfObject::add_packed(const CoffSection& section) {
  constexpr std::uint32_t kMagic = 0x42494C5A;  // "ZLIB"
  ByteCursor cursor(section.data);
  const bool marked = cursor.u32() == kMagic;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes = bytes << 8 | cursor.u8();
  const auto packed = cursor.rest();
  if (cursor.failed() || !marked || bytes > kMaxUnpacked - unpacked_bytes_ || bytes > packed.size() * kMaxInflation) {
    return false;
  }
  auto& data = unpacked_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  unpacked_bytes_ += bytes;
  const std::span unpacked(data.get(), bytes);
  if (!inflate_into(packed, Deflated::zlib, unpacked)) return false;
  sections_.push_back({"." + std::string(section.name.substr(2)), unpacked});
  bytes_ += bytes;
  return true;
}

std::span<const std::byte> DwarfObject::section(std::string_view name) const noexcept {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? std::span<const std::byte>() : found->data;
}

DwarfObject::~DwarfObject() {
  if (debug_ != nullptr) dwarf_object_finish(debug_);
}

}  // namespace mixwalk
