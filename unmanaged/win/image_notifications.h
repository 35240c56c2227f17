#pragma once

#include <windows.h>

#include <cstdint>
#include <string_view>

namespace mixwalk {

// An image that the loader has just mapped and bound, or is about to unmap. Valid during the call only.
struct ImageNotification {
  std::uint64_t base = 0;
  std::wstring_view file_name;  // without its folder
};

// Makes the loader call `listener` for every image that is loaded into this process or unloaded, during the life of
// this object (LdrRegisterDllNotification). Not frozen-safe.
//
// The loader calls the listener under its lock, on the thread that loads or unloads, one call at a time, before it
// calls the image's DllMain. So a listener must not wait, and must not ask the loader for anything. Microsoft Learn
// adds that it should call no function of another module.
//
// This object must be constructed and destroyed by a thread that may wait for the loader lock. If the system cannot
// register the listener, `registered()` is false and the listener is never called.
class ImageNotifications {
 public:
  class Listener {
   public:
    virtual void loaded(const ImageNotification&) noexcept {}
    virtual void unloaded(const ImageNotification&) noexcept {}

   protected:
    ~Listener() = default;
  };

  explicit ImageNotifications(Listener& listener) noexcept;
  ~ImageNotifications();
  ImageNotifications(const ImageNotifications&) = delete;
  ImageNotifications& operator=(const ImageNotifications&) = delete;

  bool registered() const noexcept { return cookie_ != nullptr; }

 private:
  void* cookie_ = nullptr;  // null if not registered
};

}  // namespace mixwalk
