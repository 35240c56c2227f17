#include "symbols/dwarf/debug_link.h"

#include <zlib.h>

#include <cstring>

#include "symbols/symbol_path.h"

namespace mixwalk {

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::optional<DebugLink> debug_link(const CoffFile& file) {
  const CoffSection* const section = file.section(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  const std::string_view name = text_before_zero(section->data);
  if (!is_file_name(name)) return std::nullopt;
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
