#pragma once

#include <cstring>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk::test {

// Reads this process's own memory, for stacks that are arrays of a test. A read that touches `missing` fails.
class OwnMemory final : public MemoryReader {
 public:
  OwnMemory() = default;
  explicit OwnMemory(std::uint64_t missing) : missing_(missing) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (missing_ - address < bytes) return false;
    std::memcpy(into, reinterpret_cast<const void*>(address), bytes);
    return true;
  }

 private:
  std::uint64_t missing_ = 0;  // by default 0, where no memory is
};

}  // namespace mixwalk::test
