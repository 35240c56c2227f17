#include "walker/outside/heap_walk.h"

namespace mixwalk {
namespace {

// A part of a usual heap is 4 MB.
constexpr std::size_t kMostObjects = 4'000'000;
constexpr std::uint64_t kAlignment = 8;
// The collector marks objects in the lowest bits of their first word.
constexpr std::uint64_t kMarks = 7;

struct ObjectHead {
  std::uint64_t method_table = 0;
  std::uint32_t elements = 0;
  std::uint32_t other = 0;
};

}  // namespace

std::vector<std::uint64_t> objects_among(const MemoryReader& memory, const HeapPart& part, const HeapTypes& types,
                                         std::span<const std::uint64_t> addresses) {
  std::vector<std::uint64_t> found;
  std::unordered_map<std::uint64_t, ObjectBytes> known;
  auto wanted = addresses.begin();
  std::uint64_t at = part.begin;
  for (std::size_t i = 0; i < kMostObjects && at < part.end; ++i) {
    while (wanted != addresses.end() && *wanted < at) ++wanted;
    if (wanted == addresses.end()) break;
    if (const auto room = types.free_room.find(at); room != types.free_room.end() && room->second > at) {
      at = room->second;
      continue;
    }
    ObjectHead head;
    if (memory.read_up_to(at, &head, sizeof head) != sizeof head) break;
    const std::uint64_t method_table = head.method_table & ~kMarks;
    if (method_table == 0) {
      at += kAlignment;
      continue;
    }
    auto type = known.find(method_table);
    if (type == known.end()) type = known.emplace(method_table, types.bytes_of(method_table)).first;
    const ObjectBytes& bytes = type->second;
    if (bytes.base == 0) break;
    if (*wanted == at) found.push_back(at);
    const std::uint64_t size = bytes.base + std::uint64_t{bytes.component} * (bytes.component != 0 ? head.elements : 0);
    at += (size + kAlignment - 1) & ~(kAlignment - 1);
  }
  return found;
}

}  // namespace mixwalk
