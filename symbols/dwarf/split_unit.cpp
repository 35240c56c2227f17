#include "symbols/dwarf/split_unit.h"

#include <cstring>
#include <utility>

#include "symbols/dwarf/dwarf_abbreviations.h"
#include "symbols/dwarf/dwarf_attributes.h"
#include "symbols/dwarf/dwarf_lines.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

std::vector<std::string> split_paths(const SplitUnit& unit, std::string_view image_path) {
  const std::string_view name = file_name(unit.name);
  if (!is_file_name(name)) return {};  // such as that of a device
  std::vector<std::string> paths = {path_in(unit.folder, unit.name)};
  const std::size_t separator = image_path.find_last_of("/\\");
  if (separator != image_path.npos) {
    paths.push_back(std::string(image_path.substr(0, separator + 1)) + std::string(name));
  }
  return paths;
}

SplitFile* SplitFile::open(const SplitUnit& unit, std::string_view image_path, ImageFiles& files, Dwarf_Debug main,
                           std::unique_ptr<SplitFile>& tied) {
  for (const std::string& path : split_paths(unit, image_path)) {
    auto bytes = files.read(path);
    if (!bytes) continue;
    const CoffFile file = CoffFile::parse_object(*bytes);
    if (file.error() != PeError::none) continue;
    std::unique_ptr<SplitFile> split(new SplitFile(std::move(*bytes), file));
    if (split->debug() == nullptr) continue;
    const bool found = split->find(unit.id, main);
    // Only now may the file that was tied before go: libdwarf keeps in `main` a pointer to the file that was tied last,
    // and uses it for the next error (dwarf_set_tied_dbg).
    tied = std::move(split);
    if (found) return tied.get();
  }
  return nullptr;
}

bool SplitFile::find(std::uint64_t id, Dwarf_Debug main) {
  DwarfError error(debug());
  if (dwarf_set_tied_dbg(debug(), main, error) != DW_DLV_OK) return false;
  DwarfAbbreviations abbreviations(object_.section(".debug_abbrev.dwo"));
  constexpr int kMaxUnits = 1000;  // the unit itself, and one for each type
  Dwarf_Unsigned begin = 0;
  for (int i = 0; i < kMaxUnits; ++i) {
    Dwarf_Unsigned header_bytes = 0, type_offset = 0, next = 0;
    Dwarf_Off table = 0;
    Dwarf_Half version = 0, address_bytes = 0, offset_bytes = 0, extension_bytes = 0, kind = 0;
    Dwarf_Sig8 signature{};
    if (dwarf_next_cu_header_d(debug(), true, &header_bytes, &version, &table, &address_bytes, &offset_bytes,
                               &extension_bytes, &signature, &type_offset, &next, &kind, error) != DW_DLV_OK) {
      return false;
    }
    Dwarf_Die die = nullptr;
    Dwarf_Half tag = 0;
    if (abbreviations.allow(table) && dwarf_siblingof_b(debug(), nullptr, true, &die, error) == DW_DLV_OK) {
      DiePointer owned(die);
      std::uint64_t own = 0;
      std::memcpy(&own, &signature, sizeof own);
      if (version < 5) own = DwarfAttributes(debug(), die).number(DW_AT_GNU_dwo_id).value_or(~id);
      if (own == id && dwarf_tag(die, &tag, error) == DW_DLV_OK && tag == DW_TAG_compile_unit) {
        unit_ = std::move(owned);
        unit_bytes_ = next - begin;
        return true;
      }
    }
    begin = next;
  }
  return false;
}

}  // namespace mixwalk
