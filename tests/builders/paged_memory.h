#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk::test {

// Memory that contains what a test puts there, in whole pages.
class PagedMemory final : public MemoryReader {
 public:
  template <class T>
  void put(std::uint64_t address, const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t left = sizeof value; left != 0;) {
      const std::size_t part = part_of_page(address, left);
      std::memcpy(&page(address / kPage)[address % kPage], from, part);
      address += part, from += part, left -= part;
    }
  }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    for (auto* to = static_cast<std::byte*>(into); bytes != 0;) {
      const auto found = pages_.find(address / kPage);
      if (found == pages_.end()) return false;
      const std::size_t part = part_of_page(address, bytes);
      std::memcpy(to, &found->second[address % kPage], part);
      address += part, to += part, bytes -= part;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  static std::size_t part_of_page(std::uint64_t address, std::size_t bytes) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPage - address % kPage));
  }
  std::vector<std::byte>& page(std::uint64_t number) {
    return pages_.try_emplace(number, std::vector<std::byte>(kPage)).first->second;
  }
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

}  // namespace mixwalk::test
