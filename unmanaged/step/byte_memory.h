#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Bytes of this process, such as those of a file, as memory that begins at address 0. Frozen-safe. The bytes must
// outlive this object.
class ByteMemory final : public MemoryReader {
 public:
  explicit ByteMemory(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address > bytes_.size() || bytes > bytes_.size() - address) return false;
    if (bytes != 0) std::memcpy(into, bytes_.data() + address, bytes);
    return true;
  }

  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address >= bytes_.size()) return 0;
    const std::size_t left = bytes_.size() - static_cast<std::size_t>(address);
    const std::size_t readable = bytes < left ? bytes : left;
    return read(address, into, readable) ? readable : 0;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace mixwalk
