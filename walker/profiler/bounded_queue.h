#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace mixwalk {

// A bounded queue without locks: any number of threads push, one thread pops, in the order of the pushes. No call
// waits. (This is Dmitry Vyukov's bounded queue: the number in a slot says which push or pop uses the slot next.) Not
// frozen-safe: values are moved, and freed by the reader.
template <class Value, std::size_t kSlots>
class BoundedQueue {
  static_assert((kSlots & (kSlots - 1)) == 0, "a number's slot survives its overflow");

 public:
  BoundedQueue() noexcept {
    for (std::size_t i = 0; i < kSlots; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  // Returns false if the queue is full; the value was not taken.
  bool push(Value& value) noexcept {
    std::size_t tail = tail_.load(std::memory_order_relaxed);
    while (true) {
      Slot& slot = slots_[tail % kSlots];
      const std::size_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == tail) {
        if (tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed)) {
          slot.value = std::move(value);
          slot.turn.store(tail + 1, std::memory_order_release);
          return true;
        }
      } else if (static_cast<std::ptrdiff_t>(turn - tail) < 0) {
        return false;
      } else {
        tail = tail_.load(std::memory_order_relaxed);
      }
    }
  }

  // For the one reader only. Returns false if the queue is empty, or the next value is still being written into its
  // slot.
  bool pop(Value& value) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    Slot& slot = slots_[head % kSlots];
    if (slot.turn.load(std::memory_order_acquire) != head + 1) return false;
    value = std::exchange(slot.value, Value{});
    slot.turn.store(head + kSlots, std::memory_order_release);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // Whether the queue was full at some moment during the call. Both ends may ask.
  bool full() const noexcept {
    return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire) >= kSlots;
  }

 private:
  struct Slot {
    std::atomic<std::size_t> turn;
    Value value{};
  };

  std::array<Slot, kSlots> slots_;
  std::atomic<std::size_t> head_{0}, tail_{0};
};

}  // namespace mixwalk
