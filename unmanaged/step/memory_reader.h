#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace mixwalk {

// The memory of a target, by the target's own addresses. Frozen-safe: implementations neither allocate nor lock. A read
// returns all of the bytes or fails, and never faults.
class MemoryReader {
 public:
  virtual bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept = 0;

  // Reads as many of the bytes as can be read: from the first byte up to the end of some page, or all of them. Returns
  // how many bytes were read.
  virtual std::size_t read_up_to(std::uint64_t address, void* into,
                                 std::size_t bytes) const noexcept {
    if (read(address, into, bytes)) return bytes;
    constexpr std::uint64_t kPageBytes = 4096;
    std::size_t done = 0;
    while (done < bytes) {
      const std::uint64_t at = address + done;
      const std::uint64_t left_in_page = kPageBytes - at % kPageBytes;
      const std::size_t step =
          left_in_page < bytes - done ? static_cast<std::size_t>(left_in_page) : bytes - done;
      if (!read(at, static_cast<std::byte*>(into) + done, step)) break;
      done += step;
    }
    return done;
  }

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
