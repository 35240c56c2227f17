#include "symbols/dwarf/dwarf_names.h"

namespace mixwalk {

NameId DwarfNames::of(const DwarfAttributes& function, IndexBuilder& into, std::uint64_t& work) {
  work_ = 0;
  const Found found = search(function, into, 0);
  work += work_;
  return found.linkage != kNoName ? found.linkage : found.plain;
}

DwarfNames::Found DwarfNames::search(const DwarfAttributes& entry, IndexBuilder& into, int depth) {
  Found found;
  std::string_view linkage = entry.text(DW_AT_linkage_name);
  if (linkage.empty()) linkage = entry.text(DW_AT_MIPS_linkage_name);  // before DWARF 4
  if (!linkage.empty()) {
    found.linkage = into.name(linkage);
    return found;
  }
  found.plain = into.name(entry.text(DW_AT_name));
  auto next = entry.reference(DW_AT_abstract_origin);
  if (!next) next = entry.reference(DW_AT_specification);
  if (!next || depth >= kMaxChain) return found;

  const auto known = known_.find(*next);
  Found other;
  if (known != known_.end()) {
    other = known->second;
  } else {
    work_ += step_;
    DwarfError error(debug_);
    Dwarf_Die die = nullptr;
    if (dwarf_offdie_b(debug_, *next, true, &die, error) == DW_DLV_OK) {
      const DiePointer owned(die);
      other = search(DwarfAttributes(debug_, die), into, depth + 1);
    }
    known_.emplace(*next, other);
  }
  if (other.linkage != kNoName) found.linkage = other.linkage;
  if (found.plain == kNoName) found.plain = other.plain;
  return found;
}

}  // namespace mixwalk
