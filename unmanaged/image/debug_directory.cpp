#include "unmanaged/image/debug_directory.h"

#include <algorithm>

#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

constexpr unsigned kDebugDirectory = 6;
constexpr std::size_t kEntryBytes = 28;
constexpr std::size_t kMaxEntries = 64;  // images have up to six
constexpr std::uint32_t kRsds = 0x53445352;
constexpr std::uint16_t kPortableMinor = 0x504D;
constexpr std::size_t kRsdsHeader = 24, kMaxPath = 4096;

// An entry, and the place of its data in the file.
struct PlacedEntry {
  DebugEntry entry;
  std::uint32_t offset = 0, bytes = 0;
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
                       fields.at<std::uint32_t>(at + 24), fields.at<std::uint32_t>(at + 16)});
  }
  return entries;
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

std::optional<ImageFileId> read_image_file_id(const ReadFilePart& read) {
  constexpr std::size_t kHeaderBytes = 4096;  // a linker puts all headers there
  const std::vector<std::byte> begin = read(0, kHeaderBytes);
  const auto stamp = image_stamp(begin);
  if (!stamp) return std::nullopt;
  ImageFileId headers{.timestamp = stamp->timestamp, .size_of_image = stamp->size_of_image, .code_view = {},
                      .portable = {}};
  const FileRange place = place_of_directory(begin, kDebugDirectory);
  const auto directory = read(place.offset, std::min<std::size_t>(place.bytes, kMaxEntries * kEntryBytes));
  for (PlacedEntry& placed : read_entries(directory)) {
    headers.has_pdb_inside |= placed.entry.type == DebugEntry::kEmbeddedPortablePdb;
    if (placed.entry.type != DebugEntry::kCodeView) continue;
    const auto data = read(placed.offset, std::min<std::size_t>(placed.bytes, kRsdsHeader + kMaxPath));
    placed.entry.data = data;
    auto id = code_view_id(placed.entry);
    std::optional<CodeViewId>& kept = id && id->portable ? headers.portable : headers.code_view;
    if (!kept) kept = std::move(id);
  }
  if (!headers.code_view) headers.code_view = headers.portable;
  return headers;
}

std::string build_id(const CodeViewId& id) {
  if (!id.path.empty()) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : id.guid) {
    text += kDigits[static_cast<std::uint8_t>(byte) >> 4];
    text += kDigits[static_cast<std::uint8_t>(byte) & 15];
  }
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
