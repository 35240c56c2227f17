#include "unmanaged/step/stack_copy.h"

#include <algorithm>
#include <cstring>

namespace mixwalk {
namespace {

constexpr std::size_t kStackAlignment = 16;

// The address directly behind the end counts as inside, because a frame pointer may be at the stack's very base.
bool points_into(std::uint64_t value, std::uint64_t begin, std::uint64_t bytes) noexcept {
  return value - begin <= bytes;
}

Registers move_range(Registers registers, std::uint64_t from, std::uint64_t to,
                     std::uint64_t bytes) noexcept {
  for (auto& value : registers.general) {
    if (points_into(value, from, bytes)) value += to - from;
  }
  return registers;
}

}  // namespace

void StackCopy::fill(const MemoryReader& live, std::uint64_t from, std::uint64_t end) noexcept {
  clear();
  if (end <= from) return;
  from_ = from;
  const auto misaligned = reinterpret_cast<std::uint64_t>(buffer_.data()) % kStackAlignment;
  offset_ = (from - misaligned) % kStackAlignment;
  if (offset_ >= buffer_.size()) {
    cut_ = true;
    return;
  }
  const std::uint64_t wanted = end - from;
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, buffer_.size() - offset_));
  bytes_ = live.read_up_to(from, buffer_.data() + offset_, room);
  cut_ = bytes_ < wanted;
}

bool StackCopy::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  const std::uint64_t at = address - from_;
  if (at > bytes_ || bytes > bytes_ - at) return false;
  std::memcpy(into, buffer_.data() + offset_ + at, bytes);
  return true;
}

void StackCopy::rewrite_pointers() noexcept {
  if (rewritten_ || bytes_ == 0) return;
  rewritten_ = true;
  // By the ABI, stack slots, and so all saved registers and frame pointers, are 8-byte aligned.
  const std::size_t first = (8 - from_ % 8) % 8;
  for (std::size_t at = first; at + 8 <= bytes_; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, buffer_.data() + offset_ + at, 8);
    if (!points_into(word, from_, bytes_)) continue;
    word += copy_address() - from_;
    std::memcpy(buffer_.data() + offset_ + at, &word, 8);
  }
}

Registers StackCopy::to_copy(const Registers& target) const noexcept {
  return move_range(target, from_, copy_address(), bytes_);
}

Registers StackCopy::to_target(const Registers& copy) const noexcept {
  return move_range(copy, copy_address(), from_, bytes_);
}

std::optional<std::uint64_t> StackCopy::word(std::uint64_t address) const noexcept {
  const auto word = read_value<std::uint64_t>(address);
  if (!word || !rewritten_) return word;
  Registers registers;
  registers[Register::rbp] = *word;
  return to_target(registers)[Register::rbp];
}

}  // namespace mixwalk
