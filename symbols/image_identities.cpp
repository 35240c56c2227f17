#include "symbols/image_identities.h"

namespace mixwalk {

std::optional<CodeViewId> ImageIdentities::find(const LoadedImage& image) {
  const auto [at, fresh] = known_.try_emplace({image.path, image.timestamp, image.size});
  if (fresh) at->second = read(image);
  return at->second;
}

std::optional<CodeViewId> ImageIdentities::read(const LoadedImage& image) {
  for (const std::string& path : image_candidates(image.path, image.timestamp, image.size, path_)) {
    auto headers = read_image_file_id([&](std::uint64_t offset, std::size_t bytes) {
      return files_.read_part(path, offset, bytes);
    });
    if (headers && headers->timestamp == image.timestamp && headers->size_of_image == image.size) {
      return std::move(headers->code_view);
    }
  }
  return std::nullopt;
}

}  // namespace mixwalk
