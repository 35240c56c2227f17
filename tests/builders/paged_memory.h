#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk::test {

// Memory that contains what a test puts there, in whole pages.
class PagedMemory final : public MemoryReader {
 public:
  template <class T>
  void put(std::uint64_t address, const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < sizeof value; ++i) page((address + i) / kPage)[(address + i) % kPage] = bytes[i];
  }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto found = pages_.find((address + i) / kPage);
      if (found == pages_.end()) return false;
      static_cast<std::byte*>(into)[i] = found->second[(address + i) % kPage];
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::vector<std::byte>& page(std::uint64_t number) {
    return pages_.try_emplace(number, std::vector<std::byte>(kPage)).first->second;
  }
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

}  // namespace mixwalk::test
