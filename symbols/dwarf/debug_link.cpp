#include "symbols/dwarf/debug_link.h"

#include <array>
#include <cstring>

#include "symbols/symbol_path.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxFileName = 255;  // bytes; no file system has longer ones

// Eight bytes a step, by as many tables: a debug file may have hundreds of megabytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ 0xEDB88320u : value >> 1;
    tables[0][i] = value;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) {
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  std::uint32_t crc = UINT32_MAX;
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    std::uint32_t low, high;
    std::memcpy(&low, bytes.data() + at, 4);
    std::memcpy(&high, bytes.data() + at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^
          kTables[1][high >> 16 & 0xFF] ^ kTables[0][high >> 24];
  }
  for (; at < bytes.size(); ++at) {
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<std::uint8_t>(bytes[at])) & 0xFF];
  }
  return ~crc;
}

std::optional<DebugLink> debug_link(const CoffFile& file) {
  const CoffSection* const section = file.section(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  const std::string_view name = text_before_zero(section->data);
  if (name.size() > kMaxFileName || !is_file_name(name)) return std::nullopt;
  // The CRC follows the name's zero, at the next multiple of four.
  const std::size_t at = (name.size() + 4) & ~std::size_t{3};
  DebugLink link{name, 0};
  if (at + sizeof link.crc > section->data.size()) return std::nullopt;
  std::memcpy(&link.crc, section->data.data() + at, sizeof link.crc);
  return link;
}

std::vector<std::string> debug_link_paths(std::string_view image_path, std::string_view name) {
  const std::size_t separator = image_path.find_last_of("/\\");
  std::string folder(image_path.substr(0, separator == image_path.npos ? 0 : separator + 1));
  const char between = separator == image_path.npos ? '/' : image_path[separator];
  std::vector<std::string> paths = {folder + std::string(name)};
  paths.push_back(folder + ".debug" + between + std::string(name));
  return paths;
}

}  // namespace mixwalk
