#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "tests/builders/byte_writer.h"
#include "unmanaged/step/memory_reader.h"

namespace mixwalk::test {

// Memory that consists of a few pieces, each with bytes of its own.
class PiecedMemory final : public MemoryReader {
 public:
  void put(std::uint64_t address, const ByteWriter& bytes) { put(address, bytes.bytes()); }
  void put(std::uint64_t address, std::vector<std::byte> bytes) { pieces_[address] = std::move(bytes); }

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const std::size_t left = left_at(address);
    if (left < bytes) return false;
    if (bytes != 0) std::memcpy(into, at(address), bytes);
    return true;
  }
  // Up to the end of the piece, as a dump reads.
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const std::size_t left = left_at(address) < bytes ? left_at(address) : bytes;
    if (left != 0) std::memcpy(into, at(address), left);
    return left;
  }

 private:
  // The bytes of the piece from the address on.
  std::size_t left_at(std::uint64_t address) const noexcept {
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return 0;
    const auto& [begin, piece] = *std::prev(after);
    return address - begin < piece.size() ? piece.size() - static_cast<std::size_t>(address - begin) : 0;
  }
  const std::byte* at(std::uint64_t address) const noexcept {
    const auto& [begin, piece] = *std::prev(pieces_.upper_bound(address));
    return piece.data() + (address - begin);
  }

  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
};

}  // namespace mixwalk::test
