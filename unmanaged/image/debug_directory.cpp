#include "unmanaged/image/debug_directory.h"

#include <algorithm>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

constexpr unsigned kDebugDirectory = 6;
constexpr std::size_t kEntryBytes = 28;
constexpr std::size_t kMaxEntries = 64;  // images have up to six
constexpr std::uint32_t kRsds = 0x53445352;
constexpr std::uint16_t kPortableMinor = 0x504D;
constexpr std::size_t kRsdsHeader = 24, kMaxPath = 4096;
// A name, and the sum: SHA-512 has 64 bytes. No image needs more than two.
constexpr std::size_t kMaxChecksum = 128, kMaxChecksums = 4;

// An entry, and the place of its data.
struct PlacedEntry {
  DebugEntry entry;
  std::uint32_t rva = 0, offset = 0, bytes = 0;  // in the loaded image; in the file
};

std::vector<PlacedEntry> read_entries(std::span<const std::byte> directory) {
  FileReader fields(directory);
  std::vector<PlacedEntry> entries;
  for (std::size_t i = 0; i < std::min(directory.size() / kEntryBytes, kMaxEntries); ++i) {
    const std::uint64_t at = i * kEntryBytes;
    entries.push_back({{.timestamp = fields.at<std::uint32_t>(at + 4),
                        .major = fields.at<std::uint16_t>(at + 8),
                        .minor = fields.at<std::uint16_t>(at + 10),
                        .type = fields.at<std::uint32_t>(at + 12)},
                       fields.at<std::uint32_t>(at + 20), fields.at<std::uint32_t>(at + 24),
                       fields.at<std::uint32_t>(at + 16)});
  }
  return entries;
}

void add_hexadecimal(std::string& text, std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<std::uint8_t>(byte) >> 4];
    text += kDigits[static_cast<std::uint8_t>(byte) & 15];
  }
}

std::optional<PdbChecksum> pdb_checksum(const DebugEntry& entry) {
  if (entry.type != DebugEntry::kPdbChecksum || entry.data.size() > kMaxChecksum) return std::nullopt;
  const auto end = std::find(entry.data.begin(), entry.data.end(), std::byte{0});
  if (end == entry.data.begin() || entry.data.end() - end < 2) return std::nullopt;
  PdbChecksum checksum;
  for (const std::byte byte : entry.data.first(static_cast<std::size_t>(end - entry.data.begin()))) {
    const char c = static_cast<char>(byte);
    const bool plain = (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '-';
    if (!plain) return std::nullopt;  // it becomes a part of a request
    checksum.algorithm += c;
  }
  checksum.value.assign(end + 1, entry.data.end());
  return checksum;
}

void add_checksum(std::vector<PdbChecksum>& to, const DebugEntry& entry) {
  auto checksum = to.size() < kMaxChecksums ? pdb_checksum(entry) : std::nullopt;
  if (checksum) to.push_back(std::move(*checksum));
}

std::optional<CodeViewId> code_view_id(const DebugEntry& entry) {
  if (entry.type != DebugEntry::kCodeView) return std::nullopt;
  auto id = parse_code_view(entry.data);
  if (!id) return std::nullopt;
  id->timestamp = entry.timestamp;
  id->portable = entry.minor == kPortableMinor;
  return id;
}

}  // namespace

std::vector<DebugEntry> debug_directory(std::span<const std::byte> file) {
  FileReader whole(file);
  std::vector<DebugEntry> entries;
  for (PlacedEntry& placed : read_entries(data_directory(file, kDebugDirectory))) {
    placed.entry.data = whole.range(placed.offset, placed.bytes);
    entries.push_back(placed.entry);
  }
  return entries;
}

std::optional<CodeViewId> parse_code_view(std::span<const std::byte> record) {
  FileReader data(record);
  if (data.at<std::uint32_t>(0) != kRsds || record.size() < kRsdsHeader) return std::nullopt;
  CodeViewId id{.age = data.at<std::uint32_t>(20)};
  std::copy_n(record.begin() + 4, id.guid.size(), id.guid.begin());
  const auto* const path = reinterpret_cast<const char*>(record.data() + kRsdsHeader);
  const std::size_t room = std::min(record.size() - kRsdsHeader, kMaxPath);
  id.path.assign(path, std::find(path, path + room, '\0'));
  return id;
}

std::optional<CodeViewId> code_view_id(std::span<const DebugEntry> entries, bool portable) {
  for (const DebugEntry& entry : entries) {
    auto id = code_view_id(entry);
    if (id && id->portable == portable) return id;
  }
  return std::nullopt;
}

std::vector<PdbChecksum> pdb_checksums(std::span<const DebugEntry> entries) {
  std::vector<PdbChecksum> checksums;
  for (const DebugEntry& entry : entries) add_checksum(checksums, entry);
  return checksums;
}

std::string checksums_text(std::span<const PdbChecksum> checksums) {
  std::string text;
  for (const PdbChecksum& checksum : checksums) {
    text += (text.empty() ? "" : ";") + checksum.algorithm + ':';
    add_hexadecimal(text, checksum.value);
  }
  return text;
}

std::optional<ImageFileId> read_image_file_id(const ReadFilePart& read, ImageLayout layout) {
  constexpr std::size_t kHeaderBytes = 4096;  // a linker puts all headers there
  const std::vector<std::byte> begin = read(0, kHeaderBytes);
  const auto stamp = image_stamp(begin);
  if (!stamp) return std::nullopt;
  ImageFileId headers{.timestamp = stamp->timestamp, .size_of_image = stamp->size_of_image, .code_view = {},
                      .portable = {}};
  const bool loaded = layout == ImageLayout::loaded;
  const FileRange in_file = place_of_directory(begin, kDebugDirectory);
  const DirectoryRva in_image = rva_of_directory(begin, kDebugDirectory);
  const std::size_t bytes = loaded ? in_image.bytes : in_file.bytes;
  const auto directory = read(loaded ? in_image.rva : in_file.offset, std::min(bytes, kMaxEntries * kEntryBytes));
  for (PlacedEntry& placed : read_entries(directory)) {
    headers.has_pdb_inside |= placed.entry.type == DebugEntry::kEmbeddedPortablePdb;
    const bool code_view = placed.entry.type == DebugEntry::kCodeView;
    if (!code_view && placed.entry.type != DebugEntry::kPdbChecksum) continue;
    // One byte more than the limit, so that data that is too long is known.
    const std::size_t limit = code_view ? kRsdsHeader + kMaxPath : kMaxChecksum + 1;
    const auto data = read(loaded ? placed.rva : placed.offset, std::min<std::size_t>(placed.bytes, limit));
    placed.entry.data = data;
    if (!code_view) {
      add_checksum(headers.checksums, placed.entry);
      continue;
    }
    auto id = code_view_id(placed.entry);
    std::optional<CodeViewId>& kept = id && id->portable ? headers.portable : headers.code_view;
    if (!kept) kept = std::move(id);
  }
  if (!headers.code_view) headers.code_view = headers.portable;
  return headers;
}

std::string build_id(const CodeViewId& id) {
  if (!id.path.empty()) return {};
  std::string text;
  add_hexadecimal(text, id.guid);
  return text;
}

std::string symbol_store_id(const CodeViewId& id) {
  // The first three fields of a GUID are little-endian numbers.
  constexpr std::array<std::uint8_t, 16> kOrder = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const std::uint8_t i : kOrder) {
    const auto byte = static_cast<std::uint8_t>(id.guid[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  if (id.portable) return text + "FFFFFFFF";
  std::string age;
  for (std::uint32_t left = id.age; left != 0 || age.empty(); left >>= 4) {
    age.insert(age.begin(), kDigits[left & 15]);
  }
  return text + age;
}

std::string_view file_name(std::string_view path) noexcept {
  const auto separator = path.find_last_of("/\\:");
  return separator == std::string_view::npos ? path : path.substr(separator + 1);
}

}  // namespace mixwalk
