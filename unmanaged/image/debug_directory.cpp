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

}  // namespace

std::vector<DebugEntry> debug_directory(std::span<const std::byte> file) {
  FileReader whole(file);
  const auto directory = data_directory(file, kDebugDirectory);
  FileReader fields(directory);
  std::vector<DebugEntry> entries;
  for (std::size_t i = 0; i < std::min(directory.size() / kEntryBytes, kMaxEntries); ++i) {
    const std::uint64_t at = i * kEntryBytes;
    DebugEntry entry{.timestamp = fields.at<std::uint32_t>(at + 4),
                     .major = fields.at<std::uint16_t>(at + 8),
                     .minor = fields.at<std::uint16_t>(at + 10),
                     .type = fields.at<std::uint32_t>(at + 12)};
    entry.data = whole.range(fields.at<std::uint32_t>(at + 24), fields.at<std::uint32_t>(at + 16));
    entries.push_back(entry);
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
    if (entry.type != DebugEntry::kCodeView || (entry.minor == kPortableMinor) != portable) continue;
    auto id = parse_code_view(entry.data);
    if (!id) continue;
    id->timestamp = entry.timestamp;
    id->portable = portable;
    return id;
  }
  return std::nullopt;
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
