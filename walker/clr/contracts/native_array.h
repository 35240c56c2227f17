#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A compressed number of a ReadyToRun image (one to five bytes), and where the next byte is.
struct NativeNumber {
  std::uint32_t value = 0;
  std::uint64_t next = 0;
};
std::optional<NativeNumber> read_native_number(const MemoryReader& memory, std::uint64_t address) noexcept;

// Where in a sparse array of a ReadyToRun image the element of an index is. Returns nothing if the array has no such
// element, or cannot be read. `array`: the array's address. Pure.
//
// Source: docs/design/coreclr/botr/readytorun-format.md of the runtime, public: "NativeArray".
std::optional<std::uint64_t> find_in_native_array(const MemoryReader& memory, std::uint64_t array,
                                                  std::uint32_t index) noexcept;

}  // namespace mixwalk
