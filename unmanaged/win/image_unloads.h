#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "unmanaged/win/image_notifications.h"

namespace mixwalk {

// Counts the images that this process unloads during the life of this object, as the system's loader reports them
// (image_notifications.h). The count is needed because an image may be exchanged for another one and back while a stack
// is walked, and afterwards seems to have been loaded all the time. If the system does not report unloads, none is
// known.
//
// This object must be constructed and destroyed by a thread that may wait for the loader lock. The other functions take
// no lock, and any thread may call them. Not frozen-safe, because no frozen code uses it.
class ImageUnloads final : ImageNotifications::Listener {
 public:
  ImageUnloads() noexcept : notifications_(*this) {}
  ImageUnloads(const ImageUnloads&) = delete;
  ImageUnloads& operator=(const ImageUnloads&) = delete;

  // Whether the system reports unloads.
  bool reports_unloads() const noexcept { return notifications_.registered(); }
  // The number of unloads up to now.
  std::uint64_t mark() const noexcept { return count_.load(std::memory_order_acquire); }
  // Whether an image at this base was unloaded since the mark. Also true if too many images were unloaded to remember
  // all.
  bool unloaded_since(std::uint64_t base, std::uint64_t mark) const noexcept;

 private:
  void unloaded(const ImageNotification& image) noexcept override;

  static constexpr std::size_t kRemembered = 256;

  std::atomic<std::uint64_t> count_{0};
  std::array<std::atomic<std::uint64_t>, kRemembered> bases_{};
  // The last member, so that it is destroyed before the members to which the loader's calls write.
  ImageNotifications notifications_;
};

}  // namespace mixwalk
