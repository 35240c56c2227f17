#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One RUNTIME_FUNCTION of an image's exception directory: RVAs, end exclusive. (PE format, "The
// .pdata Section", x64.)
struct FunctionEntry {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t unwind = 0;  // RVA of its UNWIND_INFO

  bool contains(std::uint32_t rva) const noexcept { return rva >= begin && rva < end; }
};

struct EntrySearch {
  StepFault fault = StepFault::none;  // unreadable_unwind: the table could not be read
  bool found = false;                 // false without a fault: a leaf function, or a gap
  FunctionEntry entry;
};

// The entry that covers an RVA, by binary search. Frozen-safe. An entry that refers to another one
// is followed once. A table that is not sorted gives a wrong or no entry, never an endless search.
EntrySearch find_entry(const MemoryReader& memory, const ModuleSpan& module,
                       std::uint32_t rva) noexcept;

}  // namespace mixwalk
