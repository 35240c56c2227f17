#include "symbols/pdb/dbi.h"

#include <algorithm>
#include <utility>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kDbiStream = 3;
constexpr std::uint32_t kSignature = 0xFFFFFFFF;
constexpr std::uint32_t kVersion70 = 19'990'903;
constexpr std::uint32_t kContributions60 = 0xF12EBA2D, kContributions2 = 0xF13151E4;
constexpr std::uint32_t kComdat = 0x1000;  // IMAGE_SCN_LNK_COMDAT
// Indices into the list of further streams.
constexpr std::size_t kOmapFromSource = 4, kSectionHeaders = 5, kSectionHeadersOfLink = 10;
constexpr std::uint32_t kExecutable = 0x20000000;  // IMAGE_SCN_MEM_EXECUTE

struct Header {
  std::uint32_t module_bytes = 0, contribution_bytes = 0, section_map_bytes = 0, source_bytes = 0,
                type_server_bytes = 0, further_bytes = 0, edit_bytes = 0;
};

std::optional<Header> read_header(ByteCursor& cursor, PdbDbi& dbi) {
  const std::uint32_t signature = cursor.u32();
  const std::uint32_t version = cursor.u32();
  dbi.age = cursor.u32();
  cursor.skip(8);  // global symbols' hash, build, public symbols' hash, version
  dbi.symbol_stream = cursor.u16();
  cursor.skip(2);
  Header header;
  header.module_bytes = cursor.u32();
  header.contribution_bytes = cursor.u32();
  header.section_map_bytes = cursor.u32();
  header.source_bytes = cursor.u32();
  header.type_server_bytes = cursor.u32();
  cursor.skip(4);
  header.further_bytes = cursor.u32();
  header.edit_bytes = cursor.u32();
  cursor.skip(8);  // flags, machine
  if (cursor.failed() || signature != kSignature || version < kVersion70) return std::nullopt;
  return header;
}

void read_modules(std::span<const std::byte> bytes, PdbDbi& dbi) {
  ByteCursor cursor(bytes);
  // Two modules never share a stream. A hostile file could claim that they do, to have one stream read a million times.
  std::vector<bool> used(MsfFile::kMaxStreams);
  while (cursor.left() != 0) {
    cursor.skip(4 + 28 + 2);  // its first contribution, flags
    PdbModule module;
    const std::uint16_t stream = cursor.u16();
    if (stream != MsfFile::kNoStream && !used[stream]) {
      module.stream = stream;
      used[stream] = true;
    }
    module.symbol_bytes = cursor.u32();
    module.c11_bytes = cursor.u32();
    module.c13_bytes = cursor.u32();
    cursor.skip(2 + 2 + 4 + 4 + 4);  // files of source
    module.name = cursor.text();
    cursor.text();  // the archive from which the object file came
    if (cursor.failed()) return;
    cursor.align(4);
    dbi.modules.push_back(std::move(module));
  }
}

void read_sections(std::span<const std::byte> bytes, PdbDbi& dbi) {
  constexpr std::size_t kHeaderBytes = 40;  // IMAGE_SECTION_HEADER
  ByteCursor cursor(bytes);
  for (std::size_t i = 0; i < PdbDbi::kMaxSections && cursor.left() >= kHeaderBytes; ++i) {
    cursor.skip(8);
    const std::uint32_t virtual_bytes = cursor.u32();
    const std::uint32_t rva = cursor.u32();
    const std::uint32_t file_bytes = cursor.u32();
    cursor.skip(16);
    const bool executable = (cursor.u32() & kExecutable) != 0;
    dbi.sections.add(rva, virtual_bytes != 0 ? virtual_bytes : file_bytes, executable);
  }
}

void read_contributions(std::span<const std::byte> bytes, PdbDbi& dbi) {
  ByteCursor cursor(bytes);
  const std::uint32_t version = cursor.u32();
  if (version != kContributions60 && version != kContributions2) return;
  const std::size_t entry_bytes = version == kContributions2 ? 32 : 28;
  dbi.contributions.reserve(cursor.left() / entry_bytes);
  while (cursor.left() >= entry_bytes) {
    ByteCursor entry(cursor.take(entry_bytes));
    const std::uint16_t section = entry.u16();
    entry.skip(2);
    const std::uint32_t offset = entry.u32();
    const std::uint32_t length = entry.u32();
    const std::uint32_t flags = entry.u32();
    const std::uint16_t module = entry.u16();
    const auto begin = dbi.sections.rva(section, offset);
    if (!begin || length == 0 || length > UINT32_MAX - *begin) continue;
    dbi.contributions.push_back({*begin, *begin + length, module, (flags & kComdat) != 0});
  }
}

void read_rearrangement(std::span<const std::byte> bytes, PdbDbi& dbi) {
  ByteCursor cursor(bytes);
  while (cursor.left() >= 8) {
    const std::uint32_t from = cursor.u32();
    dbi.rearranged.add(from, cursor.u32());
  }
  dbi.rearranged.sort();
}

}  // namespace

void PdbRearrangement::sort() {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& left, const Row& right) { return left.from < right.from; });
}

std::optional<std::uint32_t> PdbRearrangement::rva(std::uint32_t of_link) const noexcept {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), of_link,
                                      [](std::uint32_t value, const Row& row) { return value < row.from; });
  if (after == rows_.begin() || (after - 1)->to == 0) return std::nullopt;
  const std::uint32_t behind = of_link - (after - 1)->from;
  if (behind > UINT32_MAX - (after - 1)->to) return std::nullopt;
  return (after - 1)->to + behind;
}

std::optional<PdbDbi> read_dbi(const MsfFile& msf) {
  const MsfBytes stream = msf.read(kDbiStream);
  ByteCursor cursor(stream.get());
  PdbDbi dbi;
  const auto header = read_header(cursor, dbi);
  if (!header) return std::nullopt;
  const auto modules = cursor.take(header->module_bytes);
  const auto contributions = cursor.take(header->contribution_bytes);
  cursor.skip(header->section_map_bytes);
  cursor.skip(header->source_bytes);
  cursor.skip(header->type_server_bytes);
  cursor.skip(header->edit_bytes);
  ByteCursor further(cursor.take(header->further_bytes));
  if (cursor.failed()) return std::nullopt;

  std::vector<std::uint16_t> streams;
  while (further.left() >= 2) streams.push_back(further.u16());
  const auto further_stream = [&](std::size_t index) {
    return index < streams.size() ? std::uint32_t{streams[index]} : MsfFile::kNoStream;
  };
  if (msf.stream_bytes(further_stream(kOmapFromSource)) != 0) {
    read_rearrangement(msf.read(further_stream(kOmapFromSource)).get(), dbi);
    read_sections(msf.read(further_stream(kSectionHeadersOfLink)).get(), dbi);
    return dbi;
  }
  read_sections(msf.read(further_stream(kSectionHeaders)).get(), dbi);
  read_modules(modules, dbi);
  read_contributions(contributions, dbi);
  return dbi;
}

}  // namespace mixwalk
