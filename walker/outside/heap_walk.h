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

// The garbage collector uses these bits of an object's first word, which leads to its type, to mark the object.
inline constexpr std::uint64_t kCollectorMarks = 7;

// What the objects of one type take: `base` bytes, and `component` more for each element of an array or a string.
struct ObjectBytes {
  std::uint32_t base = 0;  // 0 if no type is known there
  std::uint32_t component = 0;

  bool operator==(const ObjectBytes&) const = default;
};

// The sizes that the runtime's debugging library gives for a type, as the garbage collector uses them.
ObjectBytes object_bytes(std::uint32_t base, std::uint32_t component);

// A part of the managed heap in which objects follow each other. No object lies between `end` and `limit`; a limit
// below the end counts as the end.
struct HeapPart {
  std::uint64_t begin = 0, end = 0, limit = 0;

  bool operator==(const HeapPart&) const = default;
};

// What is needed to go through a part of the heap.
struct HeapTypes {
  std::function<ObjectBytes(std::uint64_t method_table)> bytes_of;
  // Room that threads have reserved for future objects: from its beginning to where the next object is.
  std::unordered_map<std::uint64_t, std::uint64_t> free_room;
  // What bytes_of has said.
  std::unordered_map<std::uint64_t, ObjectBytes> known;
};

// An entry of one of the collector's lists of segments or regions.
struct HeapSegment {
  HeapPart part;
  std::uint64_t next = 0;
};

using HeapDeadline = std::chrono::steady_clock::time_point;

// Collects the parts of the heap from the garbage collector's lists. A list is in the target's memory: it may be
// circular, and may lead into another list.
class HeapParts {
 public:
  // Has no value if the entry at this address cannot be read.
  using SegmentAt = std::function<std::optional<HeapSegment>(std::uint64_t address)>;

  // Adds the entries of the list that begins at `first`, up to one that an earlier list had.
  void add_list(std::uint64_t first, const SegmentAt& segment_at, HeapDeadline deadline);
  // Sorted. No part begins before the end of the one before it.
  std::vector<HeapPart> take();

 private:
  std::vector<HeapPart> parts_;
  std::unordered_set<std::uint64_t> seen_;  // entries, by their addresses
};

// The objects of a part from its beginning up to `end`. Where `end` is not the part's limit, nothing is known of the
// rest.
struct WalkedObjects {
  std::vector<std::uint64_t> objects;
  std::uint64_t end = 0;

  bool operator==(const WalkedObjects&) const = default;
};

// The addresses of `addresses` (sorted) at which an object of the part begins. What the garbage collector has left
// elsewhere in the part may look like an object, but is none. The walk stops where memory cannot be read, where a type
// is not known (as in memory that changes meanwhile), and at the deadline. Nothing of the target is trusted. Not
// frozen-safe.
//
// Source: ClrMD's walk of the heap, public: an object's first word leads to its type; the 32-bit number behind that
// word is the number of elements of an array or a string.
WalkedObjects objects_among(const MemoryReader& memory, const HeapPart& part, HeapTypes& types,
                            std::span<const std::uint64_t> addresses, HeapDeadline deadline);

// `addresses` (sorted) without those at which the heap has no object. An address that the walk did not reach, or that
// lies outside the parts, is kept. `parts`: HeapParts::take().
std::vector<std::uint64_t> possible_objects(const MemoryReader& memory, std::span<const HeapPart> parts,
                                            HeapTypes& types, std::span<const std::uint64_t> addresses,
                                            HeapDeadline deadline);

}  // namespace mixwalk
