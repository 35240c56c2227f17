#include "walker/target/dac_identity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "unmanaged/image/exports_name.h"

namespace mixwalk {
namespace {

// Offsets in PE32+ (Microsoft, "PE Format").
constexpr std::uint64_t kNtHeadersAt = 0x3C, kMagicAt = 24, kResourceTableAt = 24 + 112 + 2 * 8;
constexpr std::uint32_t kSignature = 0x4550;  // "PE"
constexpr std::uint16_t kPe32Plus = 0x20B;

// Types of resources (RT_*).
constexpr std::uint32_t kRawData = 10, kVersion = 16;
// ("PE Format", "The .rsrc Section".) The entries of a table. An offset with the bit kLeadsOn leads to a table or a
// name.
constexpr std::uint64_t kNamedCountAt = 12, kNumberedCountAt = 14, kEntriesAt = 16, kEntryBytes = 8;
constexpr std::uint32_t kLeadsOn = 0x8000'0000;
// coreclr.dll has a few; a program may have some hundred.
constexpr std::uint32_t kMaxEntries = 4096;

constexpr std::uint32_t kDebugResourceBytes = 36, kDebugVersionAt = 0, kDacStampAt = 20, kDacSizeAt = 24;

// VS_FIXEDFILEINFO comes after the key "VS_VERSION_INFO".
constexpr std::uint32_t kFixedInfoSignature = 0xFEEF'04BD;
constexpr std::size_t kFixedInfoWithin = 128;

constexpr std::string_view kRuntimeInfoSignature = "DotNetRuntimeInfo";
// Signature, padding, the structure's version, three indices of 24 bytes, and from version 2 on the runtime's own
// version.
constexpr std::uint64_t kInfoVersionAt = 18 + 2, kDacIndexAt = kInfoVersionAt + 4 + 24;
constexpr std::uint64_t kRuntimeVersionAt = kDacIndexAt + 2 * 24;
constexpr std::uint32_t kInfoWithVersion = 2;
constexpr std::uint8_t kIndexBytes = 8;

struct ResourceData {
  std::uint32_t rva = 0, bytes = 0;
};

// The tables of an image's resources: type, name, language.
class Resources {
 public:
  Resources(const MemoryReader& memory, std::uint64_t base) : memory_(memory), base_(base) {
    const auto headers = memory.read_value<std::uint32_t>(base + kNtHeadersAt);
    if (!headers || memory.read_value<std::uint32_t>(base + *headers) != kSignature ||
        memory.read_value<std::uint16_t>(base + *headers + kMagicAt) != kPe32Plus) {
      return;
    }
    table_ = memory.read_value<std::uint32_t>(base + *headers + kResourceTableAt).value_or(0);
  }

  // The first language of the resource. If `name` is empty, the first resource of the type.
  std::optional<ResourceData> find(std::uint32_t type, std::string_view name) const {
    if (table_ == 0) return std::nullopt;
    const auto names = entry(0, [&](std::uint32_t key) { return key == type; });
    if (!names || (*names & kLeadsOn) == 0) return std::nullopt;
    const auto languages = entry(*names & ~kLeadsOn, [&](std::uint32_t key) {
      return name.empty() || has_name(key, name);
    });
    if (!languages || (*languages & kLeadsOn) == 0) return std::nullopt;
    const auto data = entry(*languages & ~kLeadsOn, [](std::uint32_t) { return true; });
    if (!data || (*data & kLeadsOn) != 0) return std::nullopt;
    const auto rva = memory_.read_value<std::uint32_t>(address(*data));
    const auto bytes = memory_.read_value<std::uint32_t>(address(*data) + 4);
    if (!rva || !bytes) return std::nullopt;
    return ResourceData{*rva, *bytes};
  }

 private:
  std::uint64_t address(std::uint32_t offset) const { return base_ + table_ + offset; }

  // The offset in the first entry whose key is wanted.
  template <class Wanted>
  std::optional<std::uint32_t> entry(std::uint32_t table, Wanted wanted) const {
    const auto named = memory_.read_value<std::uint16_t>(address(table) + kNamedCountAt);
    const auto numbered = memory_.read_value<std::uint16_t>(address(table) + kNumberedCountAt);
    if (!named || !numbered) return std::nullopt;
    const std::uint32_t count = std::min<std::uint32_t>(*named + *numbered, kMaxEntries);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t at = address(table) + kEntriesAt + kEntryBytes * i;
      const auto key = memory_.read_value<std::uint32_t>(at);
      const auto offset = memory_.read_value<std::uint32_t>(at + 4);
      if (!key || !offset) return std::nullopt;
      if (wanted(*key)) return offset;
    }
    return std::nullopt;
  }

  bool has_name(std::uint32_t key, std::string_view name) const {
    if ((key & kLeadsOn) == 0) return false;
    const std::uint64_t at = address(key & ~kLeadsOn);
    if (memory_.read_value<std::uint16_t>(at) != name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const auto unit = memory_.read_value<std::uint16_t>(at + 2 + 2 * i);
      if (!unit || *unit != static_cast<unsigned char>(name[i])) return false;
    }
    return true;
  }

  const MemoryReader& memory_;
  const std::uint64_t base_;
  std::uint32_t table_ = 0;  // an RVA; 0 if the image has no resources, or is no image
};

std::optional<DacStamp> from_resource(const MemoryReader& memory, std::uint64_t base,
                                        const Resources& resources) {
  for (const std::string_view name : {"CLRDEBUGINFOWINDOWSAMD64", "CLRDEBUGINFO"}) {
    const auto data = resources.find(kRawData, name);
    if (!data || data->bytes != kDebugResourceBytes) continue;
    const std::uint64_t at = base + data->rva;
    const auto stamp = memory.read_value<std::uint32_t>(at + kDacStampAt);
    const auto size = memory.read_value<std::uint32_t>(at + kDacSizeAt);
    if (memory.read_value<std::uint32_t>(at + kDebugVersionAt) == 0u && stamp && size) {
      return DacStamp{*stamp, *size};
    }
  }
  return std::nullopt;
}

std::optional<RuntimeIdentity> from_export(const MemoryReader& memory, std::uint64_t base) {
  const auto rva = export_rva(memory, base, kRuntimeInSingleFile);
  if (!rva) return std::nullopt;
  const std::uint64_t at = base + *rva;
  std::array<char, kRuntimeInfoSignature.size()> signature{};
  if (!memory.read(at, signature.data(), signature.size()) ||
      std::string_view(signature.data(), signature.size()) != kRuntimeInfoSignature) {
    return std::nullopt;
  }
  const auto bytes = memory.read_value<std::uint8_t>(at + kDacIndexAt);
  const auto stamp = memory.read_value<std::uint32_t>(at + kDacIndexAt + 1);
  const auto size = memory.read_value<std::uint32_t>(at + kDacIndexAt + 5);
  if (!bytes || *bytes < kIndexBytes || !stamp || !size) return std::nullopt;
  RuntimeIdentity identity{.dac = {*stamp, *size}};
  if (memory.read_value<std::uint32_t>(at + kInfoVersionAt).value_or(0) < kInfoWithVersion) return identity;
  if (const auto words = memory.read_value<std::array<std::uint32_t, 4>>(at + kRuntimeVersionAt)) {
    const auto number = [&](std::size_t i) { return static_cast<std::uint16_t>((*words)[i]); };
    identity.version = {number(0), number(1), number(2), number(3)};
  }
  return identity;
}

FileVersion file_version(const MemoryReader& memory, std::uint64_t base, const Resources& resources) {
  const auto data = resources.find(kVersion, {});
  if (!data) return {};
  std::array<std::byte, kFixedInfoWithin> bytes{};
  const std::size_t known = memory.read_up_to(base + data->rva, bytes.data(),
                                              std::min<std::size_t>(bytes.size(), data->bytes));
  for (std::size_t at = 0; at + 16 <= known; at += 4) {
    std::array<std::uint32_t, 4> words;
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    if (words[0] != kFixedInfoSignature) continue;
    const auto high = [](std::uint32_t word) { return static_cast<std::uint16_t>(word >> 16); };
    const auto low = [](std::uint32_t word) { return static_cast<std::uint16_t>(word); };
    return {high(words[2]), low(words[2]), high(words[3]), low(words[3])};
  }
  return {};
}

}  // namespace

std::string store_key(const DacStamp& stamp) {
  char text[24];
  std::snprintf(text, sizeof text, "%08X%x", stamp.timestamp, stamp.size);
  return text;
}

std::string to_string(const FileVersion& version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor) + '.' +
         std::to_string(version.build) + '.' + std::to_string(version.revision);
}

std::optional<RuntimeIdentity> read_runtime_identity(const MemoryReader& memory, std::uint64_t base) {
  const Resources resources(memory, base);
  // The export is read first, because a single-file program may have any resources.
  auto identity = from_export(memory, base);
  if (!identity) {
    const auto dac = from_resource(memory, base, resources);
    if (!dac) return std::nullopt;
    identity = RuntimeIdentity{.dac = *dac};
  }
  if (identity->dac.timestamp == 0 || identity->dac.size == 0) return std::nullopt;
  if (identity->version == FileVersion()) identity->version = file_version(memory, base, resources);
  return identity;
}

}  // namespace mixwalk
