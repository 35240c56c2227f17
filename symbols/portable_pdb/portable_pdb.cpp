#include "symbols/portable_pdb/portable_pdb.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "symbols/metadata/compressed_number.h"
#include "symbols/portable_pdb/sequence_points.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/enum_texts.h"
#include "unmanaged/sha256.h"

namespace mixwalk {
namespace {

// The maximum length of a path, in bytes. The file stores a path as a list of references to parts. A small hostile file
// can refer to one part very often, so the path could be far larger than the file.
constexpr std::size_t kMaxPath = 32'768;

}  // namespace

std::string_view to_string(PortablePdbError error) noexcept {
  static constexpr EnumTexts<PortablePdbError::altered> kTexts{
      "no error",
      "the file is no portable PDB",
      "the portable PDB is cut off, or its tables lie beyond its end",
      "the image names no portable PDB",
      "the portable PDB was not found",
      "the portable PDB belongs to another build of the image",
      "the portable PDB in the image cannot be unpacked",
      "the portable PDB is not as the compiler wrote it (its checksum differs)"};
  return kTexts.of(error, "unknown error");
}

PortablePdb::Opened PortablePdb::open(std::vector<std::byte> file, const std::optional<CodeViewId>& image,
                                      std::span<const PdbChecksum> checksums) {
  if (!image) return {nullptr, PortablePdbError::no_image_id};
  std::unique_ptr<PortablePdb> pdb(new PortablePdb(std::move(file)));
  const PortablePdbError error = pdb->parse();
  if (error != PortablePdbError::none) return {nullptr, error};
  std::array<std::byte, 20> wanted{};
  std::copy(image->guid.begin(), image->guid.end(), wanted.begin());
  for (unsigned i = 0; i < 4; ++i) wanted[16 + i] = static_cast<std::byte>(image->timestamp >> 8 * i);
  if (wanted != pdb->id_) return {nullptr, PortablePdbError::other_image};
  if (!pdb->is_unaltered(checksums)) return {nullptr, PortablePdbError::altered};
  pdb->read_source_link();
  return {std::move(pdb), PortablePdbError::none};
}

PortablePdbError PortablePdb::parse() {
  const auto streams = read_metadata_root(memory_, 0, file_.size());
  if (!streams || streams->pdb.bytes < id_.size()) return PortablePdbError::not_portable;
  const auto id = memory_.read_value<decltype(id_)>(streams->pdb.address);
  if (!id) return PortablePdbError::not_portable;
  id_ = *id;
  id_at_ = streams->pdb.address;
  tables_ = MetadataTables::open(memory_, *streams);
  const bool whole = tables_ && tables_->is_whole(MetadataTable::document) &&
                     tables_->is_whole(MetadataTable::method_debug_information);
  return whole ? PortablePdbError::none : PortablePdbError::damaged;
}

bool PortablePdb::is_unaltered(std::span<const PdbChecksum> checksums) {
  const auto computed = [](const PdbChecksum& checksum) { return ascii_lower(checksum.algorithm) == "sha256"; };
  if (std::ranges::none_of(checksums, computed)) return true;
  // The compiler computes the sum before it knows the id, which it makes from the sum.
  const auto id = file_.begin() + static_cast<std::ptrdiff_t>(id_at_);
  std::fill_n(id, id_.size(), std::byte{0});
  const auto sum = sha256(file_);
  std::ranges::copy(id_, id);
  return std::ranges::any_of(checksums, [&](const PdbChecksum& checksum) {
    return computed(checksum) && std::ranges::equal(checksum.value, sum);
  });
}

std::optional<ManagedPlace> PortablePdb::find(std::uint32_t method, std::uint32_t il_offset) const {
  constexpr unsigned kDocument = 0, kPoints = 1;
  constexpr auto kTable = MetadataTable::method_debug_information;
  if (!is_of_table(method, MetadataTable::method_def)) return std::nullopt;
  const auto document = tables_->cell(kTable, row_of(method), kDocument);
  const auto points = tables_->cell(kTable, row_of(method), kPoints);
  const auto blob = points.value_or(0) == 0 ? std::nullopt : tables_->blob(*points);
  if (!document || !blob) return std::nullopt;
  const auto found = find_sequence_point(*blob, *document, il_offset);
  if (!found) return std::nullopt;
  auto name = document_name(found->document);
  if (!name) return std::nullopt;
  std::string url = source_link_.url_of(*name);
  return ManagedPlace{std::move(*name), found->line, std::move(url)};
}

// "Async method stepping information": where the code is that handles exceptions, and then for each await where it
// suspends the method, where the method goes on, and in which method.
std::optional<ManagedPlace> PortablePdb::find_await(std::uint32_t method, std::uint32_t number) const {
  constexpr std::array<std::uint8_t, 16> kAwaits = {0xC5, 0x2A, 0xFD, 0x54, 0x25, 0xE9, 0x1A, 0x40,
                                                    0x9C, 0x2A, 0xF9, 0x4F, 0x17, 0x10, 0x72, 0xF8};
  const auto blob = custom_information(method, kAwaits);
  if (!blob) return std::nullopt;
  ByteCursor cursor(*blob);
  cursor.u32();
  for (std::uint32_t i = 0; !cursor.failed() && cursor.left() != 0; ++i) {
    const std::uint32_t suspends = cursor.u32();
    cursor.u32();
    read_compressed(cursor);
    if (i == number) return cursor.failed() ? std::nullopt : find(method, suspends);
  }
  return std::nullopt;
}

std::optional<std::vector<std::byte>> PortablePdb::custom_information(
    std::uint32_t parent, const std::array<std::uint8_t, 16>& kind) const {
  constexpr unsigned kParent = 0, kKind = 1, kValue = 2;
  constexpr auto kTable = MetadataTable::custom_debug_information;
  for (std::uint32_t row = tables_->find_row(kTable, kParent, parent); row != 0; ++row) {
    if (tables_->cell(kTable, row, kParent) != parent) break;
    const auto index = tables_->cell(kTable, row, kKind);
    const auto guid = index ? tables_->guid(*index) : std::nullopt;
    if (!guid || std::memcmp(guid->data(), kind.data(), guid->size()) != 0) continue;
    const auto value = tables_->cell(kTable, row, kValue);
    return value ? tables_->blob(*value) : std::nullopt;
  }
  return std::nullopt;
}

// Source Link belongs to the module, and so has the first row of table Module as its parent.
void PortablePdb::read_source_link() {
  constexpr std::array<std::uint8_t, 16> kSourceLink = {0x56, 0x05, 0x11, 0xCC, 0x91, 0xA0, 0x38, 0x4D,
                                                        0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A};
  if (const auto blob = custom_information(metadata_token(MetadataTable::module, 1), kSourceLink)) {
    source_link_ = SourceLink(*blob);
  }
}

// A document name is a separator, and then its parts, each as the index of a blob with the part's text.
std::optional<std::string> PortablePdb::document_name(std::uint32_t row) const {
  constexpr unsigned kName = 0;
  const auto index = tables_->cell(MetadataTable::document, row, kName);
  const auto blob = index ? tables_->blob(*index) : std::nullopt;
  if (!blob) return std::nullopt;
  ByteCursor parts(*blob);
  // UTF-8 of one character; 0 means that there is no separator.
  std::string separator(1, static_cast<char>(parts.u8()));
  const unsigned more = std::countl_one(static_cast<std::uint8_t>(separator[0]));
  for (unsigned i = 1; i < more && i < 4; ++i) separator += static_cast<char>(parts.u8());
  if (separator[0] == '\0') separator.clear();
  std::string name;
  for (bool first = true; parts.left() != 0; first = false) {
    const auto part = tables_->blob(read_compressed(parts));
    if (!part || parts.failed() || name.size() + separator.size() + part->size() > kMaxPath) return std::nullopt;
    if (!first) name += separator;
    name.append(reinterpret_cast<const char*>(part->data()), part->size());
  }
  return name;
}

}  // namespace mixwalk
