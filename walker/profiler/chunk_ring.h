#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

namespace mixwalk {

// Chunks on their way from the thread that samples to the one that writes them: bounded, without
// locks, one thread at each end. Not frozen-safe (strings are moved, and freed by the reader).
template <class Chunk>
class ChunkRing {
 public:
  static constexpr std::size_t kSlots = 32;

  // False: full; nothing was taken.
  bool push(Chunk& chunk) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == kSlots) return false;
    slots_[tail % kSlots] = std::move(chunk);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // False: empty.
  bool pop(Chunk& chunk) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    chunk = std::move(slots_[head % kSlots]);
    slots_[head % kSlots] = Chunk{};
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // How many are on their way, as either end sees it.
  std::size_t size() const noexcept {
    return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire);
  }

 private:
  std::array<Chunk, kSlots> slots_;
  std::atomic<std::size_t> head_{0}, tail_{0};
};

}  // namespace mixwalk
