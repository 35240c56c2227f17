#include "unmanaged/win/image_unloads.h"

namespace mixwalk {
namespace {

// ntdll.dll's, as Microsoft Learn describes them under "LdrRegisterDllNotification"; no header has them.
constexpr ULONG kUnloaded = 2;
struct Notification {
  ULONG flags;
  const void* full_name;
  const void* base_name;
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

}  // namespace

ImageUnloads::ImageUnloads() noexcept {
  const auto begin = ntdll<Register>("LdrRegisterDllNotification");
  // Registers only where the system can also unregister.
  if (begin == nullptr || ntdll<Unregister>("LdrUnregisterDllNotification") == nullptr) return;
  if (begin(0, &on_notification, this, &cookie_) < 0) cookie_ = nullptr;
}

ImageUnloads::~ImageUnloads() {
  if (cookie_ != nullptr) ntdll<Unregister>("LdrUnregisterDllNotification")(cookie_);
}

// The loader calls this under its lock, one call at a time: it must not wait.
void CALLBACK ImageUnloads::on_notification(ULONG reason, const void* data, void* self) noexcept {
  if (reason != kUnloaded) return;
  auto& unloads = *static_cast<ImageUnloads*>(self);
  const std::uint64_t count = unloads.count_.load(std::memory_order_relaxed);
  unloads.bases_[count % kRemembered].store(
      reinterpret_cast<std::uint64_t>(static_cast<const Notification*>(data)->base),
      std::memory_order_relaxed);
  unloads.count_.store(count + 1, std::memory_order_release);
}

bool ImageUnloads::unloaded_since(std::uint64_t base, std::uint64_t mark) const noexcept {
  const std::uint64_t count = this->mark();
  bool found = false;
  for (std::uint64_t i = mark; i < count && i - mark < kRemembered && !found; ++i) {
    found = bases_[i % kRemembered].load(std::memory_order_relaxed) == base;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  // The oldest places may have been used again while they were read.
  return found || count_.load(std::memory_order_relaxed) - mark >= kRemembered;
}

}  // namespace mixwalk
