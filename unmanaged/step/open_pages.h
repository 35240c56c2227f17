#pragma once

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"

namespace mixwalk {

// Reads what another reader reads, except images that are closed and pages of images that are shut (ModuleSpan).
// Frozen-safe if the other reader is. One thread. Both arguments must outlive this object.
class OpenPages final : public MemoryReader {
 public:
  OpenPages(const ModuleView& images, const MemoryReader& memory) noexcept : images_(images), memory_(memory) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (last_ == nullptr || !last_->contains(address)) last_ = images_.find(address);
    return (last_ == nullptr || last_->may_read(address, bytes)) && memory_.read(address, into, bytes);
  }

 private:
  const ModuleView& images_;
  const MemoryReader& memory_;
  mutable const ModuleSpan* last_ = nullptr;  // the image that was read last
};

}  // namespace mixwalk
