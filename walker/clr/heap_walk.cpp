#include "walker/clr/heap_walk.h"

#include <algorithm>

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// A part of a usual heap is 4 MB.
constexpr std::size_t kMaxObjects = 4'000'000;
// Regions have 4 MB, so this is a heap of 400 GB.
constexpr std::size_t kMaxSegments = 100'000;
constexpr std::size_t kMaxTypes = 100'000;
// The clock is read once in this many steps.
constexpr std::size_t kStepsOfClock = 64;
constexpr std::uint64_t kAlignment = 8;

// A string's base size is 22 bytes, including the character that ends the string. Folklore: the debugging library of
// .NET 8 to 10 subtracts that character, so GetMethodTableData returns 20. The smallest base size of an array is 24.
// Test: StringsTakeTheCharacterThatEndsThem.
constexpr std::uint32_t kCharacterBytes = 2, kStringBytes = 22;

struct ObjectHead {
  std::uint64_t method_table = 0;
  std::uint32_t elements = 0;
  std::uint32_t other = 0;
};

bool over(std::size_t step, HeapDeadline deadline) {
  return step % kStepsOfClock == 0 && Clock::now() >= deadline;
}

ObjectBytes type_at(std::uint64_t method_table, HeapTypes& types) {
  if (const auto known = types.known.find(method_table); known != types.known.end()) return known->second;
  if (types.known.size() == kMaxTypes) types.known.clear();
  return types.known[method_table] = types.bytes_of(method_table);
}

}  // namespace

ObjectBytes object_bytes(std::uint32_t base, std::uint32_t component) {
  const bool string = component == kCharacterBytes && base == kStringBytes - kCharacterBytes;
  return {string ? kStringBytes : base, component};
}

void HeapParts::add_list(std::uint64_t first, const SegmentAt& segment_at, HeapDeadline deadline) {
  for (std::uint64_t at = first; at != 0;) {
    if (over(seen_.size(), deadline) || seen_.size() == kMaxSegments || !seen_.insert(at).second) return;
    const std::optional<HeapSegment> segment = segment_at(at);
    if (!segment) return;
    const HeapPart& part = segment->part;
    if (part.begin <= part.end && part.begin < std::max(part.end, part.limit)) parts_.push_back(part);
    at = segment->next;
  }
}

std::vector<HeapPart> HeapParts::take() {
  std::ranges::sort(parts_, {}, &HeapPart::begin);
  std::uint64_t end = 0;
  std::erase_if(parts_, [&](const HeapPart& part) {
    if (part.begin < end) return true;
    end = part.end;
    return false;
  });
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    parts_[i - 1].limit = std::min(parts_[i - 1].limit, parts_[i].begin);
  }
  return std::move(parts_);
}

std::uint64_t walk_objects(const MemoryReader& memory, const HeapPart& part, HeapTypes& types, HeapDeadline deadline,
                           const std::function<bool(std::uint64_t, std::uint64_t)>& visit) {
  std::uint64_t at = part.begin;
  for (std::size_t i = 0; at < part.end; ++i) {
    if (i == kMaxObjects || over(i, deadline)) return at;
    if (const auto room = types.free_room.find(at); room != types.free_room.end() && room->second > at) {
      at = room->second;
      continue;
    }
    ObjectHead head;
    if (memory.read_up_to(at, &head, sizeof head) != sizeof head) return at;
    const std::uint64_t method_table = head.method_table & ~kCollectorMarks;
    // The word is zero, or the header of the next object.
    if (static_cast<std::uint32_t>(method_table) == 0) {
      at += kAlignment;
      continue;
    }
    const ObjectBytes bytes = type_at(method_table, types);
    if (bytes.base == 0) return at;
    const std::uint64_t size = bytes.base + std::uint64_t{bytes.component} * (bytes.component != 0 ? head.elements : 0);
    // An object that is larger than the rest of the part is not in this part.
    if (size > part.end - at) return at;
    if (!visit(at, method_table)) return at;
    at += (size + kAlignment - 1) & ~(kAlignment - 1);
  }
  return std::max(part.end, part.limit);
}

WalkedObjects objects_among(const MemoryReader& memory, const HeapPart& part, HeapTypes& types,
                            std::span<const std::uint64_t> addresses, HeapDeadline deadline) {
  WalkedObjects found;
  // Nothing behind the last address is of interest.
  if (addresses.empty() || addresses.back() < part.begin) return {{}, std::max(part.end, part.limit)};
  auto wanted = addresses.begin();
  bool all = false;
  found.end = walk_objects(memory, part, types, deadline, [&](std::uint64_t at, std::uint64_t) {
    while (wanted != addresses.end() && *wanted < at) ++wanted;
    if (wanted != addresses.end() && *wanted == at) found.objects.push_back(at);
    all = wanted == addresses.end() || at >= addresses.back();
    return !all;
  });
  if (all) found.end = std::max(part.end, part.limit);
  return found;
}

std::vector<std::uint64_t> possible_objects(const MemoryReader& memory, std::span<const HeapPart> parts,
                                            HeapTypes& types, std::span<const std::uint64_t> addresses,
                                            HeapDeadline deadline) {
  std::vector<std::uint64_t> kept;
  auto next = addresses.begin();
  const auto first_from = [&](std::uint64_t address) { return std::lower_bound(next, addresses.end(), address); };
  const auto keep_to = [&](auto end) {
    kept.insert(kept.end(), next, end);
    next = end;
  };
  for (const HeapPart& part : parts) {
    keep_to(first_from(part.begin));
    const auto end = first_from(std::max(part.end, part.limit));
    if (next == end) continue;
    const WalkedObjects walked = objects_among(memory, part, types, {next, end}, deadline);
    kept.insert(kept.end(), walked.objects.begin(), walked.objects.end());
    next = std::min(first_from(walked.end), end);
    keep_to(end);
  }
  keep_to(addresses.end());
  return kept;
}

}  // namespace mixwalk
