#include "symbols/portable_pdb/portable_pdb.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "symbols/portable_pdb/sequence_points.h"
#include "unmanaged/enum_texts.h"

namespace mixwalk {
namespace {

constexpr unsigned kDocument = 0x30, kMethodDebugInformation = 0x31;
constexpr std::uint8_t kWideGuids = 2, kWideBlobs = 4;  // HeapSizes
constexpr std::uint32_t kMethodDef = 0x06000000;
constexpr std::uint32_t kTableMask = 0xFF000000;
// The maximum length of a path, in bytes. The file stores a path as a list of references to parts. A small hostile file
// can refer to one part very often, so the path could be far larger than the file.
constexpr std::size_t kMaxPath = 32'768;

std::uint32_t index(ByteCursor& cursor, bool wide) { return wide ? cursor.u32() : cursor.u16(); }

}  // namespace

std::string_view to_string(PortablePdbError error) noexcept {
  static constexpr EnumTexts<PortablePdbError::bad_embedding> kTexts{
      "no error",
      "the file is no portable PDB",
      "the portable PDB is cut off, or its tables lie beyond its end",
      "the image names no portable PDB",
      "the portable PDB was not found",
      "the portable PDB belongs to another build of the image",
      "the portable PDB in the image cannot be unpacked"};
  return kTexts.of(error, "unknown error");
}

PortablePdb::Opened PortablePdb::open(std::vector<std::byte> file, const std::optional<CodeViewId>& image) {
  if (!image) return {nullptr, PortablePdbError::no_image_id};
  std::unique_ptr<PortablePdb> pdb(new PortablePdb);
  pdb->file_ = std::move(file);
  const PortablePdbError error = pdb->parse();
  if (error != PortablePdbError::none) return {nullptr, error};
  std::array<std::byte, 20> wanted{};
  std::copy(image->guid.begin(), image->guid.end(), wanted.begin());
  for (unsigned i = 0; i < 4; ++i) wanted[16 + i] = static_cast<std::byte>(image->timestamp >> 8 * i);
  if (wanted != pdb->id_) return {nullptr, PortablePdbError::other_image};
  return {std::move(pdb), PortablePdbError::none};
}

PortablePdbError PortablePdb::parse() {
  const auto streams = read_metadata_streams(file_);
  if (!streams || streams->pdb.size() < id_.size()) return PortablePdbError::not_portable;
  streams_ = *streams;
  std::copy_n(streams_.pdb.begin(), id_.size(), id_.begin());
  return parse_tables();
}

// II.24.2.6: one bit for each table that exists, then the numbers of their rows, then the rows.
PortablePdbError PortablePdb::parse_tables() {
  ByteCursor cursor(streams_.tables);
  cursor.skip(4 + 1 + 1);  // reserved, version
  const std::uint8_t heap_sizes = cursor.u8();
  cursor.skip(1);
  const auto valid = cursor.read<std::uint64_t>();
  cursor.skip(8);  // the mask of sorted tables
  // Tables of the assembly itself would come before this one, but a portable PDB has none.
  if (cursor.failed() || (valid & ((1ull << kDocument) - 1)) != 0) return PortablePdbError::damaged;
  for (unsigned table = kDocument; table < 64; ++table) {
    if ((valid >> table & 1) == 0) continue;
    const std::uint32_t rows = cursor.u32();
    if (table == kDocument) document_count_ = rows;
    if (table == kMethodDebugInformation) method_count_ = rows;
  }
  wide_blobs_ = (heap_sizes & kWideBlobs) != 0;
  const std::uint32_t blob_bytes = wide_blobs_ ? 4 : 2, guid_bytes = (heap_sizes & kWideGuids) != 0 ? 4 : 2;
  document_row_bytes_ = 2 * blob_bytes + 2 * guid_bytes;
  method_row_bytes_ = (document_count_ > UINT16_MAX ? 4u : 2u) + blob_bytes;
  documents_ = cursor.take(std::size_t{document_count_} * document_row_bytes_);
  methods_ = cursor.take(std::size_t{method_count_} * method_row_bytes_);
  return cursor.failed() ? PortablePdbError::damaged : PortablePdbError::none;
}

std::optional<ManagedPlace> PortablePdb::find(std::uint32_t method, std::uint32_t il_offset) const {
  const std::uint32_t row = method & ~kTableMask;
  if ((method & kTableMask) != kMethodDef || row == 0 || row > method_count_) return std::nullopt;
  ByteCursor cursor(methods_.subspan(std::size_t{row - 1} * method_row_bytes_, method_row_bytes_));
  const std::uint32_t document = index(cursor, document_count_ > UINT16_MAX);
  const std::uint32_t points = index(cursor, wide_blobs_);
  const auto blob = points == 0 ? std::nullopt : streams_.blob(points);
  if (!blob) return std::nullopt;
  const auto found = find_sequence_point(*blob, document, il_offset);
  if (!found) return std::nullopt;
  auto name = document_name(found->document);
  if (!name) return std::nullopt;
  return ManagedPlace{std::move(*name), found->line};
}

// A document name is a separator, and then its parts, each as the index of a blob with the part's text.
std::optional<std::string> PortablePdb::document_name(std::uint32_t row) const {
  if (row == 0 || row > document_count_) return std::nullopt;
  ByteCursor cursor(documents_.subspan(std::size_t{row - 1} * document_row_bytes_, document_row_bytes_));
  const auto blob = streams_.blob(index(cursor, wide_blobs_));
  if (!blob) return std::nullopt;
  ByteCursor parts(*blob);
  // UTF-8 of one character; 0 means that there is no separator.
  std::string separator(1, static_cast<char>(parts.u8()));
  const unsigned more = std::countl_one(static_cast<std::uint8_t>(separator[0]));
  for (unsigned i = 1; i < more && i < 4; ++i) separator += static_cast<char>(parts.u8());
  if (separator[0] == '\0') separator.clear();
  std::string name;
  for (bool first = true; parts.left() != 0; first = false) {
    const auto part = streams_.blob(read_compressed(parts));
    if (!part || parts.failed() || name.size() + separator.size() + part->size() > kMaxPath) return std::nullopt;
    if (!first) name += separator;
    name.append(reinterpret_cast<const char*>(part->data()), part->size());
  }
  return name;
}

}  // namespace mixwalk
