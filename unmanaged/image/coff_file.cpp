#include "unmanaged/image/coff_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mixwalk {
namespace {

constexpr std::uint16_t kMaxSections = 512;   // the loader's own limit is 96
constexpr std::size_t kMaxName = 128 * 1024;  // bytes; NamePool cuts names there as well

constexpr std::uint16_t kMz = 0x5A4D;
constexpr std::uint32_t kPe = 0x00004550;
constexpr std::uint16_t kMachineX64 = 0x8664;
constexpr std::uint16_t kMagicPe32 = 0x10B, kMagicPe32Plus = 0x20B;
constexpr std::uint32_t kExecutable = 0x20000000;  // IMAGE_SCN_MEM_EXECUTE

// Offsets in the file, in IMAGE_FILE_HEADER, in IMAGE_OPTIONAL_HEADER64 and in IMAGE_SECTION_HEADER.
constexpr std::size_t kLfanew = 0x3C, kCoffBytes = 20;
constexpr std::size_t kSectionCount = 2, kTimestamp = 4, kSymbolTable = 8, kSymbolCount = 12,
                      kOptionalBytes = 16;
constexpr std::size_t kImageBase = 24, kSizeOfImage = 56;
constexpr std::size_t kSectionBytes = 40, kShortName = 8, kVirtualSize = 8, kVirtualAddress = 12,
                      kRawSize = 16, kRawData = 20, kCharacteristics = 36;

// Returns the part of [offset, offset + bytes) that the file has.
std::span<const std::byte> part(std::span<const std::byte> file, std::uint64_t offset,
                                std::uint64_t bytes) noexcept {
  if (offset >= file.size()) return {};
  return file.subspan(offset, std::min<std::uint64_t>(bytes, file.size() - offset));
}

template <class T>
std::optional<T> value_at(std::span<const std::byte> file, std::uint64_t offset) noexcept {
  const auto bytes = part(file, offset, sizeof(T));
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

std::string_view text_before_zero(std::span<const std::byte> bytes) noexcept {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const void* const end = bytes.empty() ? nullptr : std::memchr(text, 0, bytes.size());
  return {text,
          end == nullptr ? bytes.size() : static_cast<std::size_t>(static_cast<const char*>(end) - text)};
}

CoffFile CoffFile::parse(std::span<const std::byte> file) {
  CoffFile result;
  result.error_ = result.parse_headers(file);
  return result;
}

CoffFile CoffFile::parse_object(std::span<const std::byte> file) {
  CoffFile result;
  const bool has_header = part(file, 0, kCoffBytes).size() == kCoffBytes;
  const bool is_x64 = has_header && value_at<std::uint16_t>(file, 0) == kMachineX64;
  result.error_ = is_x64 ? result.parse_tables(file, 0) : PeError::not_x64;
  return result;
}

PeError CoffFile::parse_headers(std::span<const std::byte> file) {
  if (value_at<std::uint16_t>(file, 0) != kMz) return PeError::not_pe;
  const auto pe = value_at<std::uint32_t>(file, kLfanew);
  if (!pe) return PeError::truncated;
  if (value_at<std::uint32_t>(file, *pe) != kPe) return PeError::not_pe;
  const std::uint64_t coff = std::uint64_t{*pe} + 4, optional = coff + kCoffBytes;
  const auto magic = value_at<std::uint16_t>(file, optional);
  if (!magic) return PeError::truncated;
  if (*magic == kMagicPe32) return PeError::pe32;
  if (*magic != kMagicPe32Plus || value_at<std::uint16_t>(file, coff) != kMachineX64) {
    return PeError::not_x64;
  }
  const auto size_of_image = value_at<std::uint32_t>(file, optional + kSizeOfImage);
  if (!size_of_image) return PeError::truncated;
  size_of_image_ = *size_of_image;
  image_base_ = *value_at<std::uint64_t>(file, optional + kImageBase);
  return parse_tables(file, coff);
}

PeError CoffFile::parse_tables(std::span<const std::byte> file, std::uint64_t coff) {
  timestamp_ = *value_at<std::uint32_t>(file, coff + kTimestamp);

  // The string table directly follows the symbols, and begins with its own size.
  const std::uint64_t symbols = *value_at<std::uint32_t>(file, coff + kSymbolTable);
  const std::uint64_t symbol_bytes =
      std::uint64_t{*value_at<std::uint32_t>(file, coff + kSymbolCount)} * kSymbolBytes;
  if (symbols != 0) {
    symbols_ = part(file, symbols, symbol_bytes);
    const auto string_bytes = value_at<std::uint32_t>(file, symbols + symbol_bytes);
    if (string_bytes) strings_ = part(file, symbols + symbol_bytes, *string_bytes);
  }

  const std::uint16_t count = *value_at<std::uint16_t>(file, coff + kSectionCount);
  if (count > kMaxSections) return PeError::too_many;
  const std::uint64_t table = coff + kCoffBytes + *value_at<std::uint16_t>(file, coff + kOptionalBytes);
  if (part(file, table, std::uint64_t{count} * kSectionBytes).size() != count * kSectionBytes) {
    return PeError::truncated;
  }
  for (std::uint16_t i = 0; i < count; ++i) {
    sections_.push_back(parse_section(file, static_cast<std::size_t>(table) + i * kSectionBytes));
  }
  return PeError::none;
}

CoffSection CoffFile::parse_section(std::span<const std::byte> file, std::size_t at) const noexcept {
  const auto field = [&](std::size_t offset) { return *value_at<std::uint32_t>(file, at + offset); };
  CoffSection section;
  section.name = text_before_zero(file.subspan(at, kShortName));
  if (section.name.starts_with('/')) {
    std::uint32_t offset = 0;
    const char* const end = section.name.data() + section.name.size();
    if (std::from_chars(section.name.data() + 1, end, offset).ptr == end) section.name = long_name(offset);
  }
  const std::uint32_t virtual_bytes = field(kVirtualSize), raw_bytes = field(kRawSize);
  section.rva = field(kVirtualAddress);
  section.bytes = std::max(virtual_bytes, raw_bytes);
  section.executable = (field(kCharacteristics) & kExecutable) != 0;
  // The file pads sections; a padded .debug_info would hold one more, empty unit.
  const std::uint32_t bytes = virtual_bytes == 0 ? raw_bytes : std::min(virtual_bytes, raw_bytes);
  if (field(kRawData) != 0) section.data = part(file, field(kRawData), bytes);
  return section;
}

const CoffSection* CoffFile::section(std::string_view name) const noexcept {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const CoffSection& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::string_view CoffFile::long_name(std::uint32_t offset) const noexcept {
  if (offset < sizeof(std::uint32_t)) return {};
  return text_before_zero(part(strings_, offset, kMaxName));
}

}  // namespace mixwalk
