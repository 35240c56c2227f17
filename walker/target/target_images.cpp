#include "walker/target/target_images.h"

#include "unmanaged/image/file_of_image.h"
#include "unmanaged/image/image_outline.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

TargetImages::TargetImages(DiskImages& disk, const MemoryReader& memory, const std::vector<Image>& images)
    : disk_(disk), memory_(memory) {
  for (const Image& image : images) images_.try_emplace(image.module.path, &image);
}

std::optional<std::vector<std::byte>> TargetImages::read(const std::string& path) {
  const auto found = images_.find(path);
  if (found == images_.end()) return disk_.other(path);
  const Image& image = *found->second;
  if (auto file = disk_.image(image.module)) return file;
  auto file = file_of_image(memory_, image.module.base);
  const PeImage parsed = PeImage::parse(file);
  if (parsed.error() == PeError::none && parsed.timestamp() == image.module.timestamp &&
      parsed.size_of_image() == image.module.size) {
    return file;
  }
  if (auto fetched = disk_.fetched_image(image.module)) return fetched;
  return image_outline(image.module.size, image.module.timestamp, image.pdb);
}

}  // namespace mixwalk
