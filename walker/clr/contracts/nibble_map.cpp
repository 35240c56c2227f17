#include "walker/clr/contracts/nibble_map.h"

#include <algorithm>

namespace mixwalk {
namespace {

// A nibble of the map stands for 32 bytes of code, and a word for eight nibbles, the highest first. The nibble's value
// is 0, or 1 plus the place of the code's beginning in units of 4 bytes.
constexpr std::uint32_t kBytesOfNibble = 32, kBytesOfWord = 8 * kBytesOfNibble, kBytesOfPlace = 4;
constexpr std::uint32_t kNibble = 0xF;
// Higher values of the lowest nibble mark a word that is a distance from the beginning of the map's range. Code begins
// at a multiple of 4, so the distance's lowest nibble has four possible values.
constexpr std::uint32_t kLastPlace = 8;
// The limit for one method's code: 16 MiB.
constexpr std::uint32_t kMaxWordsBack = (16u << 20) / kBytesOfWord;

std::optional<std::uint32_t> pointer_in(std::uint32_t word) {
  const std::uint32_t low = word & kNibble;
  if (low <= kLastPlace) return std::nullopt;
  return (word & ~kNibble) + (low - kLastPlace - 1) * kBytesOfPlace;
}

// The last beginning of code in a word of the map, among those up to the byte `end` of its range.
std::optional<std::uint32_t> last_start(std::uint32_t word, std::uint32_t end) {
  for (int nibble = static_cast<int>(std::min(end, kBytesOfWord - 1) / kBytesOfNibble); nibble >= 0; --nibble) {
    const std::uint32_t value = word >> (28 - 4 * nibble) & kNibble;
    if (value == 0) continue;
    const std::uint32_t start = static_cast<std::uint32_t>(nibble) * kBytesOfNibble + (value - 1) * kBytesOfPlace;
    if (start <= end) return start;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> code_start_at(const RuntimeReader& reader, std::uint64_t heap, std::uint64_t ip,
                                           NibbleMapKind kind) {
  const auto field = [&](std::string_view name) { return reader.field(heap, "CodeHeapListNode", name); };
  const auto begin = field("StartAddress"), end = field("EndAddress");
  const auto base = field("MapBase"), map = field("HeaderMap");
  if (!begin || !end || !base || !map || ip < *begin || ip > *end || ip < *base) return std::nullopt;
  const std::uint64_t distance = ip - *base;
  std::uint64_t word_index = distance / kBytesOfWord;
  // Only the word of the address itself may have beginnings after the address.
  std::uint32_t last = static_cast<std::uint32_t>(distance % kBytesOfWord);
  const std::uint32_t most = kind == NibbleMapKind::constant_time ? 1 : kMaxWordsBack;
  for (std::uint32_t back = 0; back <= most; ++back) {
    const auto word = reader.value<std::uint32_t>(*map + sizeof(std::uint32_t) * word_index);
    if (!word) return std::nullopt;
    if (kind == NibbleMapKind::constant_time) {
      if (const auto start = pointer_in(*word)) return *base + *start;
    }
    if (const auto start = last_start(*word, last)) return *base + word_index * kBytesOfWord + *start;
    if (word_index-- == 0) return std::nullopt;
    last = kBytesOfWord;
  }
  return std::nullopt;
}

}  // namespace mixwalk
