#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

// The text in which a handle's value is passed to a process that inherits it, in hexadecimal.
inline std::string handle_text(HANDLE handle) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(handle)));
  return text;
}

// The handles that a process inherits: only these, even if others are inheritable.
class HandleList {
 public:
  explicit HandleList(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    memory_.resize(bytes);
    ready_ = InitializeProcThreadAttributeList(get(), 1, 0, &bytes) &&
             UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                       handles_.size() * sizeof(HANDLE), nullptr, nullptr);
  }
  ~HandleList() {
    if (ready_) DeleteProcThreadAttributeList(get());
  }
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST get() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data()); }
  bool ready() const { return ready_; }

 private:
  std::vector<HANDLE> handles_;
  std::vector<std::byte> memory_;
  bool ready_ = false;
};

}  // namespace mixwalk
