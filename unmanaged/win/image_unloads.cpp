#include "unmanaged/win/image_unloads.h"

namespace mixwalk {

void ImageUnloads::unloaded(const ImageNotification& image) noexcept {
  const std::uint64_t count = count_.load(std::memory_order_relaxed);
  bases_[count % kRemembered].store(image.base, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
}

bool ImageUnloads::unloaded_since(std::uint64_t base, std::uint64_t mark) const noexcept {
  const std::uint64_t count = this->mark();
  bool found = false;
  for (std::uint64_t i = mark; i < count && i - mark < kRemembered && !found; ++i) {
    found = bases_[i % kRemembered].load(std::memory_order_relaxed) == base;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  // The oldest places may have been overwritten while they were read.
  return found || count_.load(std::memory_order_relaxed) - mark >= kRemembered;
}

}  // namespace mixwalk
