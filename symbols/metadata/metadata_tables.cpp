#include "symbols/metadata/metadata_tables.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "symbols/byte_cursor.h"
#include "symbols/metadata/compressed_number.h"

namespace mixwalk {
namespace {

constexpr std::uint8_t kWideStrings = 1, kWideGuids = 2, kWideBlobs = 4, kExtraData = 0x40;  // HeapSizes
constexpr std::uint32_t kMaxRows = 0x00FF'FFFF;  // a token has 24 bits for the row
// How far a table that is not sorted is searched. Only a compiler that works while its program runs (Reflection.Emit)
// writes such tables, and those have some hundred rows.
constexpr std::uint32_t kMaxUnsortedRows = 1 << 16;
constexpr std::size_t kGuidBytes = 16;
constexpr std::size_t kHeaderBytes = 24, kMaxHeaderBytes = kHeaderBytes + 4 * kMetadataTables + 4;
// Of #Pdb: the id, the entry point, and which tables of the assembly have how many rows.
constexpr std::size_t kPdbIdBytes = 20, kMaxPdbBytes = kPdbIdBytes + 4 + 8 + 4 * kMetadataTables;

}  // namespace

std::optional<MetadataTables> MetadataTables::open(const MemoryReader& memory, const MetadataStreams& streams) {
  MetadataTables tables(memory, streams);
  if (!tables.read_outer_rows() || !tables.lay_out()) return std::nullopt;
  return tables;
}

// A portable PDB refers to tables of its assembly, and says how many rows these have.
bool MetadataTables::read_outer_rows() {
  if (streams_.pdb.bytes == 0) return true;
  std::array<std::byte, kMaxPdbBytes> bytes;
  const std::size_t most = std::min<std::size_t>(streams_.pdb.bytes, bytes.size());
  ByteCursor cursor{std::span(bytes).first(memory_->read_up_to(streams_.pdb.address, bytes.data(), most))};
  cursor.skip(kPdbIdBytes + 4);
  const auto present = cursor.read<std::uint64_t>();
  for (std::size_t table = 0; table < kMetadataTables; ++table) {
    if ((present >> table & 1) != 0) counts_[table] = cursor.u32();
  }
  return !cursor.failed();
}

// II.24.2.6: one bit for each table that exists, then the numbers of their rows, then the rows.
bool MetadataTables::lay_out() {
  std::array<std::byte, kMaxHeaderBytes> bytes;
  const std::size_t most = std::min<std::size_t>(streams_.tables.bytes, bytes.size());
  ByteCursor cursor{std::span(bytes).first(memory_->read_up_to(streams_.tables.address, bytes.data(), most))};
  cursor.skip(4 + 1 + 1);  // reserved, version
  heap_sizes_ = cursor.u8();
  cursor.skip(1);
  const auto present = cursor.read<std::uint64_t>();
  const auto sorted = cursor.read<std::uint64_t>();
  std::array<std::uint32_t, kMetadataTables> rows{};
  for (std::size_t table = 0; table < kMetadataTables; ++table) {
    if ((present >> table & 1) == 0) continue;
    rows[table] = cursor.u32();
    counts_[table] = rows[table];
  }
  if ((heap_sizes_ & kExtraData) != 0) cursor.skip(4);
  if (cursor.failed()) return false;
  std::uint64_t at = cursor.at();
  for (std::size_t number = 0; number < kMetadataTables; ++number) {
    Layout& layout = layouts_[number];
    layout.begin = streams_.tables.address + at;
    layout.sorted = (sorted >> number & 1) != 0;
    const auto columns = columns_of(static_cast<MetadataTable>(number));
    if (columns.empty() && rows[number] != 0) return true;  // nothing is known of the tables from here on
    for (std::size_t i = 0; i < columns.size(); ++i) {
      layout.columns[i] = {static_cast<std::uint8_t>(layout.row_bytes), column_bytes(columns[i])};
      layout.row_bytes += layout.columns[i].bytes;
    }
    if (rows[number] == 0) continue;
    const std::uint64_t left = streams_.tables.bytes - std::min<std::uint64_t>(at, streams_.tables.bytes);
    const std::uint64_t whole = std::min<std::uint64_t>({rows[number], left / layout.row_bytes, kMaxRows});
    layout.rows = static_cast<std::uint32_t>(whole);
    layout.cut = whole != rows[number];
    at += std::uint64_t{rows[number]} * layout.row_bytes;
  }
  return true;
}

std::uint8_t MetadataTables::column_bytes(const MetadataColumn& column) const noexcept {
  const auto wide = [](bool four) -> std::uint8_t { return four ? 4 : 2; };
  switch (column.kind) {
    case MetadataColumn::Kind::u16: return 2;
    case MetadataColumn::Kind::u32: return 4;
    case MetadataColumn::Kind::string: return wide((heap_sizes_ & kWideStrings) != 0);
    case MetadataColumn::Kind::guid: return wide((heap_sizes_ & kWideGuids) != 0);
    case MetadataColumn::Kind::blob: return wide((heap_sizes_ & kWideBlobs) != 0);
    case MetadataColumn::Kind::row: return wide(counts_[column.of] > 0xFFFF);
    case MetadataColumn::Kind::coded: {
      const auto kind = static_cast<CodedIndex>(column.of);
      std::uint32_t most = 0;
      for (const std::uint8_t table : tables_of(kind)) {
        if (table != kNoTable) most = std::max(most, counts_[table]);
      }
      return wide(most > 0xFFFFu >> tag_bits(kind));
    }
    case MetadataColumn::Kind::none: break;
  }
  return 0;
}

std::optional<std::uint32_t> MetadataTables::stored(MetadataTable table, std::uint32_t row,
                                                    unsigned column) const noexcept {
  const Layout& layout = this->layout(table);
  if (row == 0 || row > layout.rows || column >= layout.columns.size()) return std::nullopt;
  const Column& of = layout.columns[column];
  const std::uint64_t at = layout.begin + std::uint64_t{row - 1} * layout.row_bytes + of.offset;
  if (of.bytes == 2) return memory_->read_value<std::uint16_t>(at);
  if (of.bytes == 4) return memory_->read_value<std::uint32_t>(at);
  return std::nullopt;
}

std::optional<std::uint32_t> MetadataTables::cell(MetadataTable table, std::uint32_t row,
                                                  unsigned column) const noexcept {
  const auto value = stored(table, row, column);
  const auto columns = columns_of(table);
  if (!value || column >= columns.size() || columns[column].kind != MetadataColumn::Kind::coded) return value;
  const auto kind = static_cast<CodedIndex>(columns[column].of);
  const auto tables = tables_of(kind);
  const std::uint32_t tag = *value & ((1u << tag_bits(kind)) - 1), index = *value >> tag_bits(kind);
  if (tag >= tables.size() || tables[tag] == kNoTable || index > kMaxRows) return std::nullopt;
  return metadata_token(static_cast<MetadataTable>(tables[tag]), index);
}

std::uint32_t MetadataTables::last_row_up_to(MetadataTable table, unsigned column, std::uint32_t value) const noexcept {
  std::uint32_t last = 0, end = rows(table) + 1;
  while (last + 1 < end) {
    const std::uint32_t middle = last + (end - last) / 2;
    const auto there = stored(table, middle, column);
    if (!there) return 0;
    (*there <= value ? last : end) = middle;
  }
  return last;
}

std::uint32_t MetadataTables::find_row(MetadataTable table, unsigned column, std::uint32_t value) const noexcept {
  const Layout& layout = this->layout(table);
  const auto columns = columns_of(table);
  if (column >= columns.size()) return 0;
  std::uint32_t wanted = value;
  if (columns[column].kind == MetadataColumn::Kind::coded) {
    const auto kind = static_cast<CodedIndex>(columns[column].of);
    const auto tables = tables_of(kind);
    const auto tag = std::ranges::find(tables, static_cast<std::uint8_t>(value >> 24));
    if (tag == tables.end()) return 0;
    wanted = row_of(value) << tag_bits(kind) | static_cast<std::uint32_t>(tag - tables.begin());
  }
  if (layout.sorted) {
    const std::uint32_t row = (wanted == 0 ? 0 : last_row_up_to(table, column, wanted - 1)) + 1;
    return stored(table, row, column) == wanted ? row : 0;
  }
  for (std::uint32_t row = 1; row <= std::min(layout.rows, kMaxUnsortedRows); ++row) {
    if (stored(table, row, column) == wanted) return row;
  }
  return 0;
}

std::optional<std::string> MetadataTables::text(std::uint32_t index) const {
  const MetadataStream& heap = streams_.strings;
  if (index >= heap.bytes) return std::nullopt;
  std::string text;
  std::array<char, 128> piece;
  while (text.size() < kMaxText) {
    const std::uint64_t at = index + text.size();
    const std::size_t most = std::min<std::size_t>(piece.size(), heap.bytes - at);
    const std::size_t read = memory_->read_up_to(heap.address + at, piece.data(), most);
    const std::string_view bytes(piece.data(), read);
    text += bytes.substr(0, bytes.find('\0'));
    if (bytes.find('\0') != bytes.npos) return text;
    if (read == 0 || read < most) return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::byte>> MetadataTables::blob(std::uint32_t index) const {
  const MetadataStream& heap = streams_.blobs;
  if (index >= heap.bytes) return std::nullopt;
  std::array<std::byte, 4> length;
  const std::size_t most = std::min<std::size_t>(length.size(), heap.bytes - index);
  ByteCursor cursor{std::span(length).first(memory_->read_up_to(heap.address + index, length.data(), most))};
  const std::uint32_t bytes = read_compressed(cursor);
  const std::uint64_t at = index + cursor.at();
  if (cursor.failed() || bytes > kMaxBlob || bytes > heap.bytes - at) return std::nullopt;
  std::vector<std::byte> blob(bytes);
  if (!memory_->read(heap.address + at, blob.data(), blob.size())) return std::nullopt;
  return blob;
}

std::optional<std::array<std::byte, 16>> MetadataTables::guid(std::uint32_t index) const noexcept {
  const std::uint64_t at = (std::uint64_t{index} - 1) * kGuidBytes;
  if (index == 0 || at + kGuidBytes > streams_.guids.bytes) return std::nullopt;
  return memory_->read_value<std::array<std::byte, kGuidBytes>>(streams_.guids.address + at);
}

}  // namespace mixwalk
