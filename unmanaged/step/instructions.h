#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/registers.h"

namespace mixwalk {

// Reads instructions one after another. Each byte is read only when it is needed, because there may be no memory behind
// the last instruction. Bytes that cannot be read give nullopt. Frozen-safe.
class Instructions {
 public:
  Instructions(const MemoryReader& memory, std::uint64_t address) noexcept
      : memory_(memory), address_(address) {}

  std::optional<std::uint8_t> peek(unsigned ahead = 0) const noexcept {
    return value<std::uint8_t>(ahead);
  }
  template <class T>
  std::optional<T> value(unsigned ahead) const noexcept {
    return memory_.read_value<T>(address_ + ahead);
  }
  bool starts_with(std::uint8_t first, std::uint8_t second, std::uint8_t third) const noexcept {
    return peek(0) == first && peek(1) == second && peek(2) == third;
  }
  void skip(unsigned bytes) noexcept { address_ += bytes; }
  void go_to(std::uint64_t address) noexcept { address_ = address; }

  // Skips a `pop reg` and returns its register.
  std::optional<Register> take_pop() noexcept {
    const auto first = peek();
    const unsigned rex = first && (*first & 0xF0) == 0x40 ? 1 : 0;
    const auto opcode = peek(rex);
    if (!opcode || (*opcode & 0xF8) != 0x58) return std::nullopt;
    skip(rex + 1);
    return static_cast<Register>((rex != 0 ? *first & 1u : 0u) << 3 | (*opcode & 7u));
  }

  // Returns the target of a `jmp rel8` or `jmp rel32` that begins `ahead` bytes from here.
  std::optional<std::uint64_t> relative_jump(unsigned ahead = 0) const noexcept {
    const auto opcode = peek(ahead);
    const auto from = [&](unsigned bytes, std::int64_t displacement) {
      return address_ + ahead + bytes + static_cast<std::uint64_t>(displacement);
    };
    if (opcode == 0xEB) {
      if (const auto displacement = value<std::int8_t>(ahead + 1)) return from(2, *displacement);
    } else if (opcode == 0xE9) {
      if (const auto displacement = value<std::int32_t>(ahead + 1)) return from(5, *displacement);
    }
    return std::nullopt;
  }

 private:
  const MemoryReader& memory_;
  std::uint64_t address_;
};

}  // namespace mixwalk
