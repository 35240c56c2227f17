#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Bits of an object's first word that the garbage collector uses to mark the object. The word leads to the object's
// type.
inline constexpr std::uint64_t kCollectorMarks = 7;

// The size of the objects of one type: `base` bytes, and `component` more for each element of an array or a string.
struct ObjectBytes {
  std::uint32_t base = 0;  // 0 if there is no known type
  std::uint32_t component = 0;

  bool operator==(const ObjectBytes&) const = default;
};

// Converts the sizes that the runtime's debugging library gives for a type to those that the garbage collector uses.
ObjectBytes object_bytes(std::uint32_t base, std::uint32_t component);

// A part of the managed heap in which objects follow each other. No object is between `end` and `limit`. A limit below
// the end counts as the end.
struct HeapPart {
  std::uint64_t begin = 0, end = 0, limit = 0;

  bool operator==(const HeapPart&) const = default;
};

// The data that a walk through a part of the heap needs.
struct HeapTypes {
  std::function<ObjectBytes(std::uint64_t method_table)> bytes_of;
  // Room that threads have reserved for future objects: where it begins, and the address of the next object after it.
  std::unordered_map<std::uint64_t, std::uint64_t> free_room;
  // The answers of bytes_of so far.
  std::unordered_map<std::uint64_t, ObjectBytes> known;
};

// The managed heap, for a walk through it. Parts may be missing.
struct ManagedHeap {
  std::vector<HeapPart> parts;  // HeapParts::take(); empty if the heap cannot be read, or is being collected
  HeapTypes types;
};

// An entry of one of the collector's lists of segments or regions.
struct HeapSegment {
  HeapPart part;
  std::uint64_t next = 0;
};

using HeapDeadline = std::chrono::steady_clock::time_point;

// Collects the parts of the heap from the garbage collector's lists. A list is in the target's memory, so it may be
// circular, and may lead into another list.
class HeapParts {
 public:
  // Returns nothing if the entry at this address cannot be read.
  using SegmentAt = std::function<std::optional<HeapSegment>(std::uint64_t address)>;

  // Adds the entries of the list that begins at `first`, up to one that was already in an earlier list.
  void add_list(std::uint64_t first, const SegmentAt& segment_at, HeapDeadline deadline);
  // The parts, sorted. No part begins before the end of the part before it.
  std::vector<HeapPart> take();

 private:
  std::vector<HeapPart> parts_;
  std::unordered_set<std::uint64_t> seen_;  // addresses of entries
};

// Calls `visit` for the objects of a part, from its beginning, with their MethodTables, until it returns false. Returns
// where the walk ended: the part's limit if it came so far. What ends it before, and what is not trusted:
// objects_among(). Not frozen-safe.
std::uint64_t walk_objects(const MemoryReader& memory, const HeapPart& part, HeapTypes& types, HeapDeadline deadline,
                           const std::function<bool(std::uint64_t object, std::uint64_t method_table)>& visit);

// The objects of a part from its beginning up to `end`. If `end` is not the part's limit, nothing is known about the
// rest.
struct WalkedObjects {
  std::vector<std::uint64_t> objects;
  std::uint64_t end = 0;

  bool operator==(const WalkedObjects&) const = default;
};

// Returns the elements of `addresses` (sorted) at which an object of the part begins. Data that the garbage collector
// has left elsewhere in the part may look like an object, but is none. The walk stops at memory that cannot be read, at
// a type that is not known (as in memory that changes meanwhile), and at the deadline. Nothing of the target is
// trusted. Not frozen-safe.
//
// Source: ClrMD's walk of the heap, which is public. An object's first word leads to its type. The 32-bit number after
// that word is the number of elements of an array or a string.
WalkedObjects objects_among(const MemoryReader& memory, const HeapPart& part, HeapTypes& types,
                            std::span<const std::uint64_t> addresses, HeapDeadline deadline);

// `addresses` (sorted) without those at which the heap has no object. An address that the walk did not reach, or that
// is outside the parts, is kept. `parts`: the result of HeapParts::take().
std::vector<std::uint64_t> possible_objects(const MemoryReader& memory, std::span<const HeapPart> parts,
                                            HeapTypes& types, std::span<const std::uint64_t> addresses,
                                            HeapDeadline deadline);

}  // namespace mixwalk
