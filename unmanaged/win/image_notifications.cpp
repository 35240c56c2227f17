#include "unmanaged/win/image_notifications.h"

namespace mixwalk {
namespace {

// Types of ntdll.dll that Microsoft Learn describes under "LdrRegisterDllNotification" and no header declares.
constexpr ULONG kLoaded = 1, kUnloaded = 2;
struct Text {  // UNICODE_STRING
  USHORT bytes;
  USHORT capacity;
  const wchar_t* units;
};
struct Notification {
  ULONG flags;
  const Text* full_name;
  const Text* base_name;
  void* base;
  ULONG size;
};
using OnNotification = void(CALLBACK*)(ULONG reason, const void* data, void* context);
using Register = LONG(NTAPI*)(ULONG flags, OnNotification, void* context, void** cookie);
using Unregister = LONG(NTAPI*)(void* cookie);

template <typename Function>
Function ntdll(const char* name) noexcept {
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
}

void CALLBACK on_notification(ULONG reason, const void* data, void* context) noexcept {
  const auto& notification = *static_cast<const Notification*>(data);
  auto& listener = *static_cast<ImageNotifications::Listener*>(context);
  ImageNotification image{.base = reinterpret_cast<std::uint64_t>(notification.base), .file_name = {}};
  if (notification.base_name != nullptr && notification.base_name->units != nullptr) {
    image.file_name = {notification.base_name->units, notification.base_name->bytes / sizeof(wchar_t)};
  }
  if (reason == kLoaded) listener.loaded(image);
  if (reason == kUnloaded) listener.unloaded(image);
}

}  // namespace

ImageNotifications::ImageNotifications(Listener& listener) noexcept {
  const auto begin = ntdll<Register>("LdrRegisterDllNotification");
  // Registers only if the system can also unregister.
  if (begin == nullptr || ntdll<Unregister>("LdrUnregisterDllNotification") == nullptr) return;
  if (begin(0, &on_notification, &listener, &cookie_) < 0) cookie_ = nullptr;
}

ImageNotifications::~ImageNotifications() {
  if (cookie_ != nullptr) ntdll<Unregister>("LdrUnregisterDllNotification")(cookie_);
}

}  // namespace mixwalk
