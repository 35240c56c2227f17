#include "walker/clr/contracts/native_array.h"

#include <array>
#include <bit>
#include <cstddef>

namespace mixwalk {
namespace {

constexpr std::uint32_t kBlock = 16;  // elements that share an entry of the array's index

// The value at a place of the index, whose entries have one, two or four bytes.
std::optional<std::uint32_t> index_entry(const MemoryReader& memory, std::uint64_t begin, std::uint32_t size,
                                         std::uint32_t block) noexcept {
  if (size == 0) return memory.read_value<std::uint8_t>(begin + block);
  if (size == 1) return memory.read_value<std::uint16_t>(begin + 2 * std::uint64_t{block});
  return memory.read_value<std::uint32_t>(begin + 4 * std::uint64_t{block});
}

}  // namespace

// The number of ones at the low end of the first byte says how many bytes follow.
std::optional<NativeNumber> read_native_number(const MemoryReader& memory, std::uint64_t address) noexcept {
  std::array<std::uint8_t, 5> bytes{};
  const std::size_t known = memory.read_up_to(address, bytes.data(), bytes.size());
  const auto more = static_cast<unsigned>(std::countr_one(bytes[0]));
  if (more > 4 || known <= more) return std::nullopt;
  std::uint64_t value = 0;
  for (unsigned i = 0; i <= more; ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
  // Four bytes have 28 bits of the number. After a first byte with four ones, all 32 bits follow.
  value >>= more == 4 ? 8 : more + 1;
  return NativeNumber{static_cast<std::uint32_t>(value), address + more + 1};
}

// Each block is a binary tree over the four lowest bits of an index. A node says whether there is something for a bit
// of 0 (right after the node) and for a bit of 1 (at a distance); a node with neither is the only element of its part.
std::optional<std::uint64_t> find_in_native_array(const MemoryReader& memory, std::uint64_t array,
                                                  std::uint32_t index) noexcept {
  const auto header = read_native_number(memory, array);
  if (!header || index >= header->value >> 2) return std::nullopt;
  const auto entry = index_entry(memory, header->next, header->value & 3, index / kBlock);
  if (!entry) return std::nullopt;
  std::uint64_t at = header->next + *entry;
  for (std::uint32_t bit = kBlock / 2; bit != 0; bit /= 2) {
    const auto node = read_native_number(memory, at);
    if (!node) return std::nullopt;
    if ((index & bit) != 0 && (node->value & 2) != 0) {
      at += node->value >> 2;
    } else if ((index & bit) == 0 && (node->value & 1) != 0) {
      at = node->next;
    } else if ((node->value & 3) == 0 && node->value >> 2 == index % kBlock) {
      return node->next;
    } else {
      return std::nullopt;
    }
  }
  return at;
}

}  // namespace mixwalk
