#include "symbols/dwarf/dwarf_ranges.h"

#include <algorithm>

namespace mixwalk {

CodeSpan::CodeSpan(const CoffFile& file) noexcept : image_base_(file.image_base()) {
  for (const CoffSection& section : file.sections()) {
    if (!section.executable || section.bytes > UINT32_MAX - section.rva) continue;
    begin_ = std::min(begin_, section.rva);
    end_ = std::max(end_, section.rva + section.bytes);
  }
}

bool CodeSpan::to_rva(std::uint64_t address, std::uint32_t& rva) const noexcept {
  const std::uint64_t at = address - image_base_;  // an address below the image becomes a huge one
  if (at < begin_ || at >= end_) return false;
  rva = static_cast<std::uint32_t>(at);
  return true;
}

bool CodeSpan::to_rvas(std::uint64_t low, std::uint64_t high, std::uint32_t& begin,
                       std::uint32_t& end) const noexcept {
  if (high <= low || !to_rva(low, begin)) return false;
  end = static_cast<std::uint32_t>(std::min<std::uint64_t>(high - image_base_, end_));
  return true;
}

void DwarfRanges::add(std::uint64_t low, std::uint64_t high, std::vector<RvaRange>& into) const {
  RvaRange range;
  if (code_.to_rvas(low, high, range.begin, range.end)) into.push_back(range);
}

std::size_t DwarfRanges::read(Dwarf_Die die, const DwarfAttributes& attributes, std::uint64_t unit_base,
                              std::vector<RvaRange>& into) const {
  into.clear();
  if (const Dwarf_Attribute list = attributes.find(DW_AT_ranges)) {
    return read_list(die, list, unit_base, into);
  }
  const auto low = attributes.address(DW_AT_low_pc);
  if (!low) return 0;
  if (const auto high = attributes.high_pc(*low)) add(*low, *high, into);
  return 1;
}

std::size_t DwarfRanges::read_list(Dwarf_Die die, Dwarf_Attribute attribute, std::uint64_t base,
                                   std::vector<RvaRange>& into) const {
  DwarfError error(debug_);
  Dwarf_Half version = 0, offset_bytes = 0, form = 0;
  if (dwarf_get_version_of_die(die, &version, &offset_bytes) != DW_DLV_OK ||
      dwarf_whatform(attribute, &form, error) != DW_DLV_OK) {
    return 1;
  }
  if (version >= 5) return read_list_5(attribute, form, into);

  Dwarf_Off offset = 0, real_offset = 0;
  Dwarf_Unsigned value = 0;
  if (dwarf_global_formref(attribute, &offset, error) != DW_DLV_OK) {
    // DWARF 3 writes the offset as a plain number.
    if (dwarf_formudata(attribute, &value, error) != DW_DLV_OK) return 1;
    offset = value;
  }
  Dwarf_Ranges* list = nullptr;
  Dwarf_Signed count = 0;
  Dwarf_Unsigned bytes = 0;
  if (dwarf_get_ranges_b(debug_, offset, die, &real_offset, &list, &count, &bytes, error) != DW_DLV_OK) {
    return 1;
  }
  for (Dwarf_Signed i = 0; i < count; ++i) {
    const Dwarf_Ranges& entry = list[i];
    if (entry.dwr_type == DW_RANGES_END) break;
    if (entry.dwr_type == DW_RANGES_ADDRESS_SELECTION) {
      base = entry.dwr_addr2;
    } else {
      add(base + entry.dwr_addr1, base + entry.dwr_addr2, into);
    }
  }
  dwarf_dealloc_ranges(debug_, list, count);
  return static_cast<std::size_t>(count);
}

std::size_t DwarfRanges::read_list_5(Dwarf_Attribute attribute, Dwarf_Half form,
                                     std::vector<RvaRange>& into) const {
  DwarfError error(debug_);
  Dwarf_Unsigned where = 0;  // an index, or an offset
  if (form == DW_FORM_rnglistx) {
    if (dwarf_formudata(attribute, &where, error) != DW_DLV_OK) return 1;
  } else if (dwarf_global_formref(attribute, &where, error) != DW_DLV_OK) {
    return 1;
  }
  Dwarf_Rnglists_Head head = nullptr;
  Dwarf_Unsigned count = 0, offset = 0;
  if (dwarf_rnglists_get_rle_head(attribute, form, where, &head, &count, &offset, error) != DW_DLV_OK) {
    return 1;
  }
  for (Dwarf_Unsigned i = 0; i < count; ++i) {
    unsigned length = 0, code = 0;
    Dwarf_Unsigned raw1 = 0, raw2 = 0, low = 0, high = 0;
    Dwarf_Bool unavailable = 0;
    if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw1, &raw2, &unavailable, &low, &high,
                                          error) != DW_DLV_OK ||
        code == DW_RLE_end_of_list) {
      break;
    }
    const bool selects_base = code == DW_RLE_base_address || code == DW_RLE_base_addressx;
    if (!selects_base && !unavailable) add(low, high, into);
  }
  dwarf_dealloc_rnglists_head(head);
  return static_cast<std::size_t>(count);
}

}  // namespace mixwalk
