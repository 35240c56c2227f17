#include "walker/shown/image_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "symbols/symbol_path.h"
#include "unmanaged/image/pe_image.h"
#include "unmanaged/sha256.h"

namespace mixwalk {

std::string code_id(const Module& module) {
  if (module.timestamp == 0 && module.size == 0) return {};
  return image_store_id(module.timestamp, module.size);
}

std::string debug_id(const Module& module) {
  return module.code_view ? symbol_store_id(*module.code_view) : std::string();
}

std::string pdb_path(const Module& module) { return module.code_view ? module.code_view->path : std::string(); }

std::string pdb_name(const Module& module) {
  const std::string path = pdb_path(module);
  return std::string(file_name(path));
}

std::string htlhash(std::span<const std::byte> file) {
  constexpr std::size_t kEnds = 4096;
  const auto head = file.first(std::min(file.size(), kEnds));
  const auto tail = file.last(std::min(file.size(), kEnds));
  std::vector<std::byte> input(head.begin(), head.end());
  input.insert(input.end(), tail.begin(), tail.end());
  const std::uint64_t size = file.size();
  for (int shift = 56; shift >= 0; shift -= 8) {
    input.push_back(static_cast<std::byte>(size >> shift));
  }
  const auto digest = sha256(input);
  std::string text;
  for (const std::byte byte : std::span(digest).first(digest.size() / 2)) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::optional<std::string> htlhash(const Module& module, ImageFiles& files) {
  if (module.path.empty()) return std::nullopt;
  const auto bytes = files.read(module.path);
  if (!bytes) return std::nullopt;
  const PeImage image = PeImage::parse(*bytes);
  const bool loaded = image.error() == PeError::none && image.timestamp() == module.timestamp &&
                      image.size_of_image() == module.size;
  return loaded ? std::optional(htlhash(*bytes)) : std::nullopt;
}

}  // namespace mixwalk
