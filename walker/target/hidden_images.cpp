#include "walker/target/hidden_images.h"

#include <algorithm>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/loaded_module.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {

const ModuleSpan* HiddenImages::image_at(std::uint64_t address) {
  const auto known = std::ranges::find_if(images_, [&](const ModuleSpan& image) { return image.contains(address); });
  if (known != images_.end()) return &*known;
  if (images_.size() == kMaxImages || without_image_.size() == kMaxWithoutImage) return nullptr;
  const std::uint64_t first = address / kGranularity * kGranularity;
  if (std::ranges::find(without_image_, first) != without_image_.end()) return nullptr;
  for (std::uint64_t base = first; base != 0 && address - base < kFarthest; base -= kGranularity) {
    const auto headers = ImageHeaders::read(memory_, base);
    if (!headers || headers->size_of_image() <= address - base) continue;
    ModuleTable::Entry entry = loaded_module(*headers);
    add_code(entry, *headers, memory_);
    // Data that looks like headers may be data of the very image.
    if (!find_entry(memory_, entry.span, static_cast<std::uint32_t>(address - base)).found) continue;
    if (images_.capacity() == 0) images_.reserve(kMaxImages);  // images that were returned keep their addresses
    return &images_.emplace_back(entry.span);
  }
  without_image_.push_back(first);
  return nullptr;
}

}  // namespace mixwalk
