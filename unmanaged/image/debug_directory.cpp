#include "unmanaged/image/debug_directory.h"

#include <algorithm>
#include <cstring>

namespace mixwalk {
namespace {

constexpr std::uint16_t kMz = 0x5A4D;
constexpr std::uint32_t kPe = 0x00004550;
constexpr std::uint16_t kMagicPe32 = 0x10B, kMagicPe32Plus = 0x20B;
constexpr std::uint64_t kLfanew = 0x3C, kCoffBytes = 20, kSectionBytes = 40, kDirectoryBytes = 8;
constexpr std::uint64_t kDirectories32 = 96, kDirectories64 = 112;  // in the optional header
constexpr std::uint32_t kDebugDirectory = 6;
constexpr std::uint16_t kMaxSections = 512;
constexpr std::size_t kEntryBytes = 28;
constexpr std::size_t kMaxEntries = 64;  // images have up to six
constexpr std::uint32_t kRsds = 0x53445352;
constexpr std::uint16_t kPortableMinor = 0x504D;
constexpr std::size_t kRsdsHeader = 24, kMaxPath = 4096;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  template <class T>
  T at(std::uint64_t offset) {
    T value = 0;
    if (offset > file_.size() || sizeof(T) > file_.size() - offset) {
      failed_ = true;
    } else {
      std::memcpy(&value, file_.data() + offset, sizeof(T));
    }
    return value;
  }
  bool failed() const { return failed_; }
  std::span<const std::byte> range(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset) return {};
    return file_.subspan(offset, bytes);
  }

 private:
  std::span<const std::byte> file_;
  bool failed_ = false;
};

// Where the file has the debug directory; empty: nowhere.
std::span<const std::byte> find_directory(Reader& file) {
  if (file.at<std::uint16_t>(0) != kMz) return {};
  const std::uint64_t pe = file.at<std::uint32_t>(kLfanew);
  if (file.at<std::uint32_t>(pe) != kPe) return {};
  const std::uint64_t coff = pe + 4, optional = coff + kCoffBytes;
  const std::uint16_t section_count = std::min(file.at<std::uint16_t>(coff + 2), kMaxSections);
  const std::uint16_t optional_bytes = file.at<std::uint16_t>(coff + 16);
  const std::uint16_t magic = file.at<std::uint16_t>(optional);
  if (magic != kMagicPe32 && magic != kMagicPe32Plus) return {};
  const std::uint64_t directories = magic == kMagicPe32 ? kDirectories32 : kDirectories64;
  const std::uint32_t directory_count = file.at<std::uint32_t>(optional + directories - 4);
  const std::uint64_t entry = directories + kDebugDirectory * kDirectoryBytes;
  if (file.failed() || directory_count <= kDebugDirectory || entry + kDirectoryBytes > optional_bytes) {
    return {};
  }
  const std::uint32_t rva = file.at<std::uint32_t>(optional + entry);
  const std::uint32_t bytes = file.at<std::uint32_t>(optional + entry + 4);
  for (std::uint16_t i = 0; i < section_count; ++i) {
    const std::uint64_t section = optional + optional_bytes + i * kSectionBytes;
    const std::uint32_t begin = file.at<std::uint32_t>(section + 12);
    const std::uint32_t in_file = file.at<std::uint32_t>(section + 16);
    const std::uint32_t offset = file.at<std::uint32_t>(section + 20);
    if (file.failed()) return {};
    if (rva < begin || rva - begin > in_file || bytes > in_file - (rva - begin)) continue;
    return file.range(std::uint64_t{offset} + (rva - begin), bytes);
  }
  return {};
}

}  // namespace

std::vector<DebugEntry> debug_directory(std::span<const std::byte> file) {
  Reader whole(file);
  const auto directory = find_directory(whole);
  Reader fields(directory);
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

std::optional<CodeViewId> code_view_id(std::span<const DebugEntry> entries, bool portable) {
  for (const DebugEntry& entry : entries) {
    if (entry.type != DebugEntry::kCodeView || (entry.minor == kPortableMinor) != portable) continue;
    Reader data(entry.data);
    if (data.at<std::uint32_t>(0) != kRsds || entry.data.size() < kRsdsHeader) continue;
    CodeViewId id{.age = data.at<std::uint32_t>(20), .timestamp = entry.timestamp, .portable = portable};
    std::copy_n(entry.data.begin() + 4, id.guid.size(), id.guid.begin());
    const auto* const path = reinterpret_cast<const char*>(entry.data.data() + kRsdsHeader);
    const std::size_t room = std::min(entry.data.size() - kRsdsHeader, kMaxPath);
    id.path.assign(path, std::find(path, path + room, '\0'));
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
