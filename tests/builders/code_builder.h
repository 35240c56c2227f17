#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"

namespace mixwalk {

// An artificial image and an artificial stack, both read by their own addresses. The test writes the bytes itself, so
// that it shares no layout with the code under test.
class BuiltMemory final : public MemoryReader {
 public:
  explicit BuiltMemory(std::uint64_t base, std::size_t bytes) : base_(base), bytes_(bytes) {}

  std::uint64_t base() const { return base_; }
  void put(std::uint32_t at, std::initializer_list<int> bytes) {
    for (const int byte : bytes) bytes_.at(at++) = static_cast<std::uint8_t>(byte);
  }
  void put(std::uint32_t at, std::span<const std::byte> bytes) {
    const std::span<std::uint8_t> to = std::span(bytes_).subspan(at, bytes.size());
    std::memcpy(to.data(), bytes.data(), to.size());
  }
  void put32(std::uint32_t at, std::uint32_t value) { std::memcpy(&bytes_.at(at), &value, 4); }
  void put64(std::uint32_t at, std::uint64_t value) { std::memcpy(&bytes_.at(at), &value, 8); }
  // Writes a RUNTIME_FUNCTION.
  void put_entry(std::uint32_t at, std::uint32_t begin, std::uint32_t end, std::uint32_t unwind) {
    put32(at, begin);
    put32(at + 4, end);
    put32(at + 8, unwind);
  }

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const std::uint64_t at = address - base_;
    if (at > bytes_.size() || bytes > bytes_.size() - at) return false;
    std::memcpy(into, bytes_.data() + at, bytes);
    return true;
  }

 private:
  std::uint64_t base_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace mixwalk
