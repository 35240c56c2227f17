#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"

namespace mixwalk {

// Images with unwind data that are in no list of the target's images. A single-file program contains such ReadyToRun
// images, and its runtime lays them out in its own memory. Each begins with its headers on a boundary of 64 KiB (the
// granularity of VirtualAlloc). If nobody says where, the search for them goes downwards from the code. Nothing that is
// read is trusted. Not frozen-safe; the memory must outlive this object.
class HiddenImages {
 public:
  explicit HiddenImages(const MemoryReader& memory) : memory_(memory) {}

  // The image whose .pdata covers the code at this address, for code in no listed image. Returns null if none was
  // found.
  const ModuleSpan* image_at(std::uint64_t address);
  // The same if the image is known to begin at `base`: no other place is looked at.
  const ModuleSpan* image_at(std::uint64_t address, std::uint64_t base);
  // To be called when the target has run: everything is looked for anew. Spans that image_at() returned are no longer
  // valid.
  void forget() noexcept {
    images_.clear();
    without_image_.clear();
  }

 private:
  const ModuleSpan* known_image(std::uint64_t address) const;
  const ModuleSpan* add_image(std::uint64_t address, std::uint64_t base);

  // How far below the code the headers may be. The largest image of the framework has some 30 MB.
  static constexpr std::uint64_t kFarthest = 256 << 20;
  static constexpr std::uint64_t kGranularity = 64 << 10;
  static constexpr std::size_t kMaxImages = 1024, kMaxWithoutImage = 64;

  const MemoryReader& memory_;
  std::vector<ModuleSpan> images_;  // in the order in which they were found
  std::vector<std::uint64_t> without_image_;  // boundaries below which nothing was found
};

}  // namespace mixwalk
