#pragma once

#include <windows.h>

#include <cstddef>
#include <span>

namespace mixwalk {

// Zeroed memory directly from the system; only touched pages take physical memory. The heap is not used, since a frozen
// thread may hold the heap's lock.
template <class T>
class Pages {
 public:
  // The memory is empty if the process has no memory left.
  explicit Pages(std::size_t count) noexcept {
    void* memory = VirtualAlloc(nullptr, count * sizeof(T), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (memory != nullptr) all_ = {static_cast<T*>(memory), count};
  }
  ~Pages() {
    if (!all_.empty()) VirtualFree(all_.data(), 0, MEM_RELEASE);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<T> all() const noexcept { return all_; }
  bool empty() const noexcept { return all_.empty(); }

 private:
  std::span<T> all_;
};

}  // namespace mixwalk
