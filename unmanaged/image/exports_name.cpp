#include "unmanaged/image/exports_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace mixwalk {
namespace {

// Offsets in the headers of PE32+ (Microsoft, "PE Format").
constexpr std::uint64_t kNtHeadersAt = 0x3C, kMagicAt = 24, kExportTableAt = 24 + 112;
constexpr std::uint64_t kNameCountAt = 24, kFunctionsAt = 28, kNamesAt = 32, kOrdinalsAt = 36;
constexpr std::uint32_t kSignature = 0x4550;  // "PE"
constexpr std::uint16_t kPe32Plus = 0x20B;
constexpr std::uint32_t kMaxNames = 0x10000;  // ordinals have 16 bits
constexpr std::size_t kMaxName = 48;          // of the names that are looked for

// Returns the order of the name at that address and `name`, as strcmp does, or nothing if the name cannot be read.
std::optional<int> compare(const MemoryReader& memory, std::uint64_t address,
                           std::string_view name) noexcept {
  std::array<char, kMaxName + 1> text{};
  const std::size_t bytes = memory.read_up_to(address, text.data(), name.size() + 1);
  const std::size_t length = std::find(text.begin(), text.begin() + bytes, '\0') - text.begin();
  if (length == bytes && bytes != name.size() + 1) return std::nullopt;  // the rest of the name was not read
  return std::string_view(text.data(), length).compare(name);
}

// A name's place in an image's table of exported names.
struct FoundName {
  std::uint64_t table = 0;  // the address of the image's IMAGE_EXPORT_DIRECTORY
  std::uint32_t place = 0;
};

std::optional<FoundName> find_name(const MemoryReader& memory, std::uint64_t base,
                                   std::string_view name) noexcept {
  if (name.size() > kMaxName) return std::nullopt;
  const auto offset = memory.read_value<std::uint32_t>(base + kNtHeadersAt);
  if (!offset || memory.read_value<std::uint32_t>(base + *offset) != kSignature ||
      memory.read_value<std::uint16_t>(base + *offset + kMagicAt) != kPe32Plus) {
    return std::nullopt;
  }
  const auto directory = memory.read_value<std::uint32_t>(base + *offset + kExportTableAt);
  if (!directory || *directory == 0) return std::nullopt;
  const std::uint64_t table = base + *directory;
  const auto count = memory.read_value<std::uint32_t>(table + kNameCountAt);
  const auto names = memory.read_value<std::uint32_t>(table + kNamesAt);
  if (!count || !names || *count > kMaxNames) return std::nullopt;
  // The names are sorted, because the loader also finds a name by binary search.
  std::uint32_t first = 0, last = *count;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    const auto rva = memory.read_value<std::uint32_t>(base + *names + std::uint64_t{4} * middle);
    const auto order = rva ? compare(memory, base + *rva, name) : std::nullopt;
    if (!order) return std::nullopt;
    if (*order == 0) return FoundName{table, middle};
    if (*order < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return std::nullopt;
}

}  // namespace

bool exports_name(const MemoryReader& memory, std::uint64_t base, std::string_view name) noexcept {
  return find_name(memory, base, name).has_value();
}

std::optional<std::uint32_t> export_rva(const MemoryReader& memory, std::uint64_t base,
                                        std::string_view name) noexcept {
  const auto found = find_name(memory, base, name);
  if (!found) return std::nullopt;
  const auto ordinals = memory.read_value<std::uint32_t>(found->table + kOrdinalsAt);
  const auto functions = memory.read_value<std::uint32_t>(found->table + kFunctionsAt);
  if (!ordinals || !functions) return std::nullopt;
  const auto ordinal =
      memory.read_value<std::uint16_t>(base + *ordinals + std::uint64_t{2} * found->place);
  if (!ordinal) return std::nullopt;
  return memory.read_value<std::uint32_t>(base + *functions + std::uint64_t{4} * *ordinal);
}

}  // namespace mixwalk
