#include "symbols/dwarf/dwarf_lines.h"

#include <cstring>

#include "symbols/image_files.h"

namespace mixwalk {
namespace {

// Accepts "/x", "\x", "C:\x", "C:/x".
bool is_absolute(std::string_view path) noexcept {
  if (path.empty()) return false;
  return is_separator(path[0]) || (path.size() > 2 && path[1] == ':' && is_separator(path[2]));
}

// Whether the unit's table is within the limit. A table begins with its own length (DWARF 5, section 6.2.4). A table in
// the 64-bit format is never within the limit.
bool is_moderate(Dwarf_Debug debug, Dwarf_Die unit, std::span<const std::byte> section) {
  const auto offset = DwarfAttributes(debug, unit).section_offset(DW_AT_stmt_list);
  std::uint32_t length = 0;
  if (!offset || *offset > section.size() || section.size() - *offset < sizeof length) return false;
  std::memcpy(&length, section.data() + *offset, sizeof length);
  return length <= DwarfLines::kMaxTable;
}

}  // namespace

std::string path_in(std::string_view folder, std::string_view name) {
  if (folder.empty() || is_absolute(name)) return std::string(name);
  std::string text(folder);
  if (name.empty()) return text;
  // The separator is the one that the folder uses; gcc writes '/' on every system.
  if (!is_separator(text.back())) {
    text += text.find('/') == text.npos && text.find('\\') != text.npos ? '\\' : '/';
  }
  return text += name;
}

DwarfLines::DwarfLines(Dwarf_Debug debug, Dwarf_Die unit, std::span<const std::byte> section)
    : debug_(debug) {
  if (!is_moderate(debug, unit, section)) return;
  DwarfError error(debug_);
  Dwarf_Small tables = 0;
  if (dwarf_srclines_b(unit, &version_, &tables, &context_, error) != DW_DLV_OK) context_ = nullptr;
}

DwarfLines::~DwarfLines() {
  if (context_ != nullptr) dwarf_srclines_dealloc_b(context_);
}

std::string DwarfLines::path_of(std::uint64_t number) const {
  DwarfError error(debug_);
  const char* name = nullptr;
  Dwarf_Unsigned folder_number = 0, time = 0, bytes = 0;
  if (dwarf_srclines_files_data_b(context_, static_cast<Dwarf_Signed>(number), &name, &folder_number, &time,
                                  &bytes, nullptr, error) != DW_DLV_OK ||
      name == nullptr) {
    return {};
  }
  if (is_absolute(name)) return name;
  // Number 0 is the unit's own folder; before DWARF 5 it has no entry.
  const char *folder = nullptr, *unit_folder = nullptr;
  if (dwarf_srclines_comp_dir(context_, &unit_folder, error) != DW_DLV_OK || unit_folder == nullptr) {
    unit_folder = "";
  }
  if ((version_ >= 5 || folder_number != 0) &&
      dwarf_srclines_include_dir_data(context_, static_cast<Dwarf_Signed>(folder_number), &folder, error) ==
          DW_DLV_OK &&
      folder != nullptr) {
    return path_in(path_in(unit_folder, folder), name);
  }
  return path_in(unit_folder, name);
}

NameId DwarfLines::file(std::uint64_t number, IndexBuilder& into) {
  if (context_ == nullptr || number >= kMaxFiles) return kNoName;
  if (number >= files_.size()) files_.resize(static_cast<std::size_t>(number) + 1);
  KnownFile& file = files_[static_cast<std::size_t>(number)];
  if (!file.known) {
    file.known = true;
    file.name = into.name(path_of(number));
  }
  return file.name;
}

void DwarfLines::add_rows(const CodeSpan& code, IndexBuilder& into) {
  if (context_ == nullptr) return;
  DwarfError error(debug_);
  Dwarf_Line* rows = nullptr;
  Dwarf_Signed count = 0;
  if (dwarf_srclines_from_linecontext(context_, &rows, &count, error) != DW_DLV_OK) return;
  bool in_code = false, begins = true;
  for (Dwarf_Signed i = 0; i < count; ++i) {
    Dwarf_Addr address = 0;
    Dwarf_Bool ends = 0;
    Dwarf_Unsigned line = 0, number = 0;
    if (dwarf_lineaddr(rows[i], &address, error) != DW_DLV_OK ||
        dwarf_lineendsequence(rows[i], &ends, error) != DW_DLV_OK) {
      continue;
    }
    // A sequence that begins outside the code is that of a function that the linker dropped; the sequence may reach
    // into code.
    std::uint32_t rva = 0;
    if (begins) in_code = code.to_rva(address, rva);
    begins = ends != 0;
    if (!in_code) continue;
    if (ends) {
      std::uint32_t begin = 0, end = 0;
      into.end_sequence(code.to_rvas(address - 1, address, begin, end) ? end : 0);
    } else if (code.to_rva(address, rva) && dwarf_lineno(rows[i], &line, error) == DW_DLV_OK &&
               dwarf_line_srcfileno(rows[i], &number, error) == DW_DLV_OK) {
      into.add_line(rva, file(number, into), line > UINT32_MAX ? 0 : static_cast<std::uint32_t>(line));
    }
  }
}

}  // namespace mixwalk
