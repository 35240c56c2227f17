#include "symbols/pdb/module_lines.h"

#include <algorithm>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

// Kinds of subsections (DEBUG_S_*). A subsection with the highest bit set must be ignored.
constexpr std::uint32_t kLines = 0xF2, kFiles = 0xF4, kInlineeLines = 0xF6, kImports = 0xF7;

constexpr std::uint16_t kHasColumns = 1;
constexpr std::uint32_t kWithExtraFiles = 1;
constexpr std::uint32_t kLineMask = 0x00FFFFFF;
// Folklore: these numbers, which no line has, tell a debugger to step over the code, or into it.
constexpr std::uint32_t kNeverStepInto = 0xFEEFEE, kAlwaysStepInto = 0xF00F00;

// Folklore: MSVC and clang write two rows at a function's start, one for its own line and one for the line of its first
// statement. DbgHelp and llvm-symbolizer both use the first row for exactly that address, and the last row for the
// following code.
void split_equal_rows(std::vector<PdbLine>& lines, std::size_t first, std::uint32_t end) {
  std::size_t kept = first;
  for (std::size_t i = first; i < lines.size();) {
    std::size_t last = i;
    while (last + 1 < lines.size() && lines[last + 1].rva == lines[i].rva) ++last;
    const PdbLine begin = lines[i], rest = lines[last];
    lines[kept++] = begin;
    const std::uint32_t next = last + 1 == lines.size() ? end : lines[last + 1].rva;
    if (last != i && begin.rva + 1 < next) lines[kept++] = {begin.rva + 1, rest.file, rest.line};
    i = last + 1;
  }
  lines.resize(kept);
}

void read_lines(ByteCursor cursor, const PdbSections& sections, PdbModuleLines& into) {
  const std::uint32_t offset = cursor.u32();
  const std::uint16_t section = cursor.u16();
  const bool has_columns = (cursor.u16() & kHasColumns) != 0;
  const std::uint32_t bytes = cursor.u32();
  const auto begin = sections.rva(section, offset);
  if (cursor.failed() || !begin || bytes == 0 || bytes > UINT32_MAX - *begin) return;
  const std::size_t first = into.lines.size();
  while (cursor.left() != 0) {
    const std::uint32_t file = cursor.u32();
    const std::uint32_t count = cursor.u32();
    cursor.skip(4);  // bytes of this block
    if (cursor.failed() || count > cursor.left() / 8) break;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = cursor.u32();
      const std::uint32_t line = cursor.u32() & kLineMask;
      if (at >= bytes) continue;
      const bool real = line != kNeverStepInto && line != kAlwaysStepInto;
      into.lines.push_back({*begin + at, file, real ? line : 0});
    }
    if (has_columns) cursor.skip(std::size_t{count} * 4);
  }
  // A sequence has one block for each change of the file, and the blocks need not be in the order of the code.
  const auto by_rva = [](const PdbLine& left, const PdbLine& right) { return left.rva < right.rva; };
  std::stable_sort(into.lines.begin() + static_cast<std::ptrdiff_t>(first), into.lines.end(), by_rva);
  // Folklore: if a function begins with code of an inlined call, clang 14 may leave out the row of the call. In this
  // case llvm-symbolizer too takes the function's first row. In all cases seen, that row was the row of the call.
  if (first < into.lines.size()) into.lines[first].rva = *begin;
  split_equal_rows(into.lines, first, *begin + bytes);
  into.sequences.push_back({*begin, *begin + bytes, static_cast<std::uint32_t>(first),
                            static_cast<std::uint32_t>(into.lines.size() - first)});
}

void read_inlinees(ByteCursor cursor, PdbModuleLines& into) {
  const bool extra_files = cursor.u32() == kWithExtraFiles;
  while (cursor.left() != 0) {
    const std::uint32_t id = cursor.u32();
    const std::uint32_t file = cursor.u32();
    const std::uint32_t line = cursor.u32();
    if (extra_files) cursor.skip(std::size_t{cursor.u32()} * 4);
    if (cursor.failed()) return;
    into.inlinees.try_emplace(id, PdbInlinee{file, line});
  }
}

}  // namespace

std::optional<std::uint32_t> PdbModuleLines::path_of(std::uint32_t file) const noexcept {
  if (file >= files.size()) return std::nullopt;
  ByteCursor entry(files.subspan(file));
  const std::uint32_t path = entry.u32();
  if (entry.failed()) return std::nullopt;
  return path;
}

PdbModuleLines read_module_lines(std::span<const std::byte> c13, const PdbSections& sections) {
  PdbModuleLines lines;
  ByteCursor cursor(c13);
  while (cursor.left() >= 8) {
    const std::uint32_t kind = cursor.u32();
    const auto data = cursor.take(cursor.u32());
    if (cursor.failed()) break;
    if (kind == kLines) read_lines(ByteCursor(data), sections, lines);
    if (kind == kInlineeLines) read_inlinees(ByteCursor(data), lines);
    if (kind == kImports) read_imports(data, lines.imports);
    if (kind == kFiles && lines.files.empty()) lines.files = data;
    if (cursor.left() != 0) cursor.align(4);
  }
  std::stable_sort(
      lines.sequences.begin(), lines.sequences.end(),
      [](const PdbLineSequence& left, const PdbLineSequence& right) { return left.begin < right.begin; });
  return lines;
}

}  // namespace mixwalk
