#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace mixwalk {

// The memory of a target, by the target's own addresses. Frozen-safe: implementations neither
// allocate nor lock. A read is whole or nothing, and never faults.
class MemoryReader {
 public:
  virtual bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept = 0;

  template <class T>
  std::optional<T> read_value(std::uint64_t address) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }

 protected:
  ~MemoryReader() = default;
};

}  // namespace mixwalk
