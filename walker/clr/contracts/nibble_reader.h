#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwalk {

// Reads numbers that are stored in pieces of four bits: three of the number, and one that says whether more pieces
// follow. The highest piece is first, and the lower half of a byte comes before the higher half. A read beyond the end
// gives zero and makes failed() true for good. Pure.
//
// Source: docs/design/datacontracts/DebugInfo.md of the runtime, public.
class NibbleReader {
 public:
  explicit NibbleReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  // Fails on a number of more than 32 bits.
  std::uint32_t number() noexcept {
    std::uint64_t value = 0;
    for (int pieces = 1; pieces <= kMaxPieces; ++pieces) {
      const std::uint32_t piece = nibble();
      value = value << 3 | (piece & 7);
      if ((piece & 8) != 0) continue;
      if (value > UINT32_MAX) break;
      return failed_ ? 0 : static_cast<std::uint32_t>(value);
    }
    failed_ = true;
    return 0;
  }

  // Where the next whole byte is that no read has touched.
  std::size_t next_byte() const noexcept { return (at_ + 1) / 2; }
  bool failed() const noexcept { return failed_; }

 private:
  static constexpr int kMaxPieces = 11;  // for 32 bits

  std::uint32_t nibble() noexcept {
    if (at_ / 2 >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    const auto byte = static_cast<std::uint32_t>(bytes_[at_ / 2]);
    return at_++ % 2 == 0 ? byte & 15 : byte >> 4;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  // in nibbles
  bool failed_ = false;
};

}  // namespace mixwalk
