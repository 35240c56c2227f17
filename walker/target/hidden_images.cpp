#include "walker/target/hidden_images.h"

#include <algorithm>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/loaded_module.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {

const ModuleSpan* HiddenImages::image_at(std::uint64_t address) {
  if (const ModuleSpan* const known = known_image(address)) return known;
  if (images_.size() == kMaxImages || without_image_.size() == kMaxWithoutImage) return nullptr;
  const std::uint64_t first = address / kGranularity * kGranularity;
  if (std::ranges::find(without_image_, first) != without_image_.end()) return nullptr;
  for (std::uint64_t base = first; base != 0 && address - base < kFarthest; base -= kGranularity) {
    if (const ModuleSpan* const image = add_image(address, base)) return image;
  }
  without_image_.push_back(first);
  return nullptr;
}

const ModuleSpan* HiddenImages::image_at(std::uint64_t address, std::uint64_t base) {
  if (const ModuleSpan* const known = known_image(address)) return known;
  return images_.size() < kMaxImages ? add_image(address, base) : nullptr;
}

const ModuleSpan* HiddenImages::known_image(std::uint64_t address) const {
  const auto known = std::ranges::find_if(images_, [&](const ModuleSpan& image) { return image.contains(address); });
  return known != images_.end() ? &*known : nullptr;
}

// Returns null if no image with a function at this address begins at `base`.
const ModuleSpan* HiddenImages::add_image(std::uint64_t address, std::uint64_t base) {
  const auto headers = ImageHeaders::read(memory_, base);
  if (!headers || address < base || headers->size_of_image() <= address - base) return nullptr;
  ModuleTable::Entry entry = loaded_module(*headers);
  add_code(entry, *headers, memory_);
  // Data that looks like headers may be data of the very image.
  if (!find_entry(memory_, entry.span, static_cast<std::uint32_t>(address - base)).found) return nullptr;
  if (images_.capacity() == 0) images_.reserve(kMaxImages);  // images that were returned keep their addresses
  return &images_.emplace_back(entry.span);
}

}  // namespace mixwalk
