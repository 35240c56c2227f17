#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk::test {

// The same bytes over and over at every address, except in some of the pages: the memory of fuzz targets.
class RepeatedMemory final : public MemoryReader {
 public:
  explicit RepeatedMemory(std::string_view bytes) : bytes_(bytes) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if ((address >> 12 & 31) == 31 || bytes_.empty()) return false;
    for (std::size_t i = 0; i < bytes; ++i) {
      static_cast<char*>(into)[i] = bytes_[static_cast<std::size_t>((address + i) % bytes_.size())];
    }
    return true;
  }

 private:
  std::string_view bytes_;
};

}  // namespace mixwalk::test
