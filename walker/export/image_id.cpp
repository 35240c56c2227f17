#include "walker/export/image_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "unmanaged/image/pe_image.h"
#include "walker/base/sha256.h"

namespace mixwalk {

std::string code_id(const Module& module) {
  if (module.timestamp == 0 && module.size == 0) return {};
  return fmt::format("{:08X}{:x}", module.timestamp, module.size);
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
