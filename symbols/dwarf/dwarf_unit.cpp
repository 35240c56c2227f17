#include "symbols/dwarf/dwarf_unit.h"

namespace mixwalk {
namespace {

// The limit for entries nested in each other: blocks, inlined calls. Real nesting stays below 100. libdwarf skips the
// content of an entry once for each level, so this limit also bounds the time.
constexpr int kMaxNesting = 200;
// The limit for the work on a unit, per byte of the unit: bytes that are skipped, attributes and ranges that are read,
// entries of other units that are looked up. Without DW_AT_sibling (clang) an entry is skipped once for each level of
// its depth.
constexpr std::uint64_t kWorkPerByte = 100;

}  // namespace

bool DwarfUnitReader::spend(std::uint64_t work) noexcept {
  work_left_ -= work < work_left_ ? work : work_left_;
  return work_left_ != 0;
}

void DwarfUnitReader::read(Dwarf_Die unit, std::uint64_t bytes, std::uint64_t base, DwarfLines& lines) {
  lines_ = &lines;
  base_ = base;
  work_left_ = (bytes + 1) * kWorkPerByte;
  kinds_.clear();
  read_children(unit, kNoScope, 0);
  lines_ = nullptr;
}

void DwarfUnitReader::read_children(Dwarf_Die parent, ScopeId scope, int depth) {
  Dwarf_Half has_children = 0;
  if (depth > kMaxNesting || dwarf_die_abbrev_children_flag(parent, &has_children) != DW_DLV_OK ||
      !has_children) {
    return;
  }
  DwarfError error(debug_);
  Dwarf_Die next = nullptr;
  if (dwarf_child(parent, &next, error) != DW_DLV_OK) return;
  Dwarf_Off before = 0, at = 0;
  dwarf_dieoffset(next, &before, error);
  for (DiePointer die(next); die != nullptr; die.reset(next)) {
    read_entry(die.get(), scope, depth);
    next = nullptr;
    if (dwarf_siblingof_c(die.get(), &next, error) != DW_DLV_OK ||
        dwarf_dieoffset(next, &at, error) != DW_DLV_OK || !spend(1 + at - before)) {
      die.reset(next);
      return;
    }
    before = at;
  }
}

// Types and variables contain no code, so their children are skipped.
void DwarfUnitReader::read_entry(Dwarf_Die die, ScopeId scope, int depth) {
  DwarfError error(debug_);
  Dwarf_Half tag = 0;
  if (dwarf_tag(die, &tag, error) != DW_DLV_OK) return;
  switch (tag) {
    case DW_TAG_subprogram: {
      if (kind_of(die).declared) break;
      // An abstract function has no code itself. But gcc places the functions of its local classes inside it, such as
      // lambdas that are not inlined anywhere. (Seen in std::regex.)
      read_children(die, add_function(die), depth + 1);
      break;
    }
    case DW_TAG_inlined_subroutine: {
      const ScopeId inlined = add_inlined(die, scope);
      read_children(die, inlined != kNoScope ? inlined : scope, depth + 1);
      break;
    }
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      read_children(die, scope, depth + 1);
      break;
    default:
      break;
  }
}

DwarfUnitReader::Kind DwarfUnitReader::kind_of(Dwarf_Die die) {
  const auto [at, fresh] = kinds_.try_emplace(dwarf_die_abbrev_code(die));
  if (fresh) {
    DwarfError error(debug_);
    Dwarf_Bool low = false, ranges = false, declared = false;
    const bool known = dwarf_hasattr(die, DW_AT_low_pc, &low, error) == DW_DLV_OK &&
                       dwarf_hasattr(die, DW_AT_ranges, &ranges, error) == DW_DLV_OK &&
                       dwarf_hasattr(die, DW_AT_declaration, &declared, error) == DW_DLV_OK;
    if (known) at->second = {.code = low || ranges, .declared = declared && !low && !ranges};
  }
  return at->second;
}

ScopeId DwarfUnitReader::add_function(Dwarf_Die die) {
  if (!kind_of(die).code) return kNoScope;
  const DwarfAttributes attributes(debug_, die);
  if (!spend(attributes.count() + ranges_.read(die, attributes, base_, code_of_entry_)) ||
      code_of_entry_.empty()) {
    return kNoScope;
  }
  std::uint32_t entry = code_of_entry_.front().begin;  // compilers list the entry's range first
  if (const auto address = attributes.address(DW_AT_entry_pc)) code_.to_rva(*address, entry);
  std::uint64_t work = 0;
  const ScopeId function = into_.add_function(names_.of(attributes, into_, work), entry);
  spend(work);
  for (const RvaRange& range : code_of_entry_) into_.add_range(function, range.begin, range.end);
  return function;
}

ScopeId DwarfUnitReader::add_inlined(Dwarf_Die die, ScopeId parent) {
  if (!kind_of(die).code) return kNoScope;
  const DwarfAttributes attributes(debug_, die);
  if (!spend(attributes.count() + ranges_.read(die, attributes, base_, code_of_entry_)) ||
      code_of_entry_.empty()) {
    return kNoScope;
  }
  const std::uint64_t line = attributes.number(DW_AT_call_line).value_or(0);
  const NameId file = lines_->file(attributes.number(DW_AT_call_file).value_or(UINT64_MAX), into_);
  std::uint64_t work = 0;
  const ScopeId inlined = into_.add_inlined(parent, names_.of(attributes, into_, work), file,
                                            line > UINT32_MAX ? 0 : static_cast<std::uint32_t>(line));
  spend(work);
  for (const RvaRange& range : code_of_entry_) into_.add_range(inlined, range.begin, range.end);
  return inlined;
}

}  // namespace mixwalk
