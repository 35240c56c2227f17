#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// What the objects of one type take: `base` bytes, and `component` more for each element of an array or a string.
struct ObjectBytes {
  std::uint32_t base = 0;  // 0: no type is known there
  std::uint32_t component = 0;

  bool operator==(const ObjectBytes&) const = default;
};

// A part of the managed heap in which objects lie one behind the other, and what is needed to go through them.
struct HeapPart {
  std::uint64_t begin = 0, end = 0;
};
struct HeapTypes {
  std::function<ObjectBytes(std::uint64_t method_table)> bytes_of;
  // Room that threads have taken for objects to come: from where it begins to where the next object is.
  std::unordered_map<std::uint64_t, std::uint64_t> free_room;
};

// Those of `addresses` (sorted) at which an object of the part begins. What the collector has left elsewhere in the part
// looks like an object, and is none. Ends where no type is known, as in memory that changes meanwhile. Nothing of the
// target is trusted. Not frozen-safe.
//
// Source: ClrMD's walk of the heap, public: an object's first word leads to its type; an array's or a string's number of
// elements is the 32-bit number behind that.
std::vector<std::uint64_t> objects_among(const MemoryReader& memory, const HeapPart& part, const HeapTypes& types,
                                         std::span<const std::uint64_t> addresses);

}  // namespace mixwalk
