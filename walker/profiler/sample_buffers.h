#pragma once

#include <windows.h>

#include <cstddef>
#include <span>

#include "unmanaged/step/native_run.h"
#include "walker/merge.h"
#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// The memory that a freeze writes to, made once and before any: reserved from the system directly,
// so that only what a stack really needs is ever touched. Not the heap, whose lock a frozen thread
// may hold.
class SampleBuffers {
 public:
  // The largest stack that is copied whole. Eight times the default of a .NET thread.
  static constexpr std::size_t kStackBytes = 12 << 20;

  SampleBuffers() noexcept
      : stack_(allocate<std::byte>(kStackBytes)),
        entries_(allocate<ManagedEntry>(kMaxFrames)),
        frames_(allocate<RunFrame>(kMaxFrames)) {}
  ~SampleBuffers() {
    for (void* memory : {static_cast<void*>(stack_.data()), static_cast<void*>(entries_.data()),
                         static_cast<void*>(frames_.data())}) {
      if (memory != nullptr) VirtualFree(memory, 0, MEM_RELEASE);
    }
  }
  SampleBuffers(const SampleBuffers&) = delete;
  SampleBuffers& operator=(const SampleBuffers&) = delete;

  // False: the process has no memory left; nothing can be sampled.
  bool ready() const noexcept {
    return !stack_.empty() && !entries_.empty() && !frames_.empty();
  }
  std::span<std::byte> stack() const noexcept { return stack_; }
  std::span<ManagedEntry> entries() const noexcept { return entries_; }
  std::span<RunFrame> frames() const noexcept { return frames_; }

 private:
  // Zeroed pages are valid objects of all three types.
  template <class T>
  static std::span<T> allocate(std::size_t count) noexcept {
    void* memory = VirtualAlloc(nullptr, count * sizeof(T), MEM_RESERVE | MEM_COMMIT,
                                PAGE_READWRITE);
    return memory == nullptr ? std::span<T>() : std::span<T>(static_cast<T*>(memory), count);
  }

  std::span<std::byte> stack_;
  std::span<ManagedEntry> entries_;
  std::span<RunFrame> frames_;
};

}  // namespace mixwalk
