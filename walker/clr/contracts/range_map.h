#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// A range of addresses in which the runtime has code.
struct CodeSection {
  std::uint64_t address = 0;  // of the runtime's RangeSection
  std::uint64_t begin = 0, end = 0;
  std::uint64_t heap = 0;    // CodeHeapListNode, if the code was compiled while the program ran
  std::uint64_t module = 0;  // Module, if the range is a ReadyToRun image
  bool stubs = false;        // the range has stubs only
};

// The section that contains an address. Returns nothing if the runtime has no code there. `unreadable`: set if the part
// of the map that would say so cannot be read; may be null. Not frozen-safe.
//
// Source: docs/design/datacontracts/ExecutionManager.md of the runtime, public. Folklore: the document says that
// TopLevelData is a pointer to the top level; in .NET 9 and 10 the top level itself begins at that field (256
// pointers). Test: RangeMap.TheTopLevelIsInTheMap.
std::optional<CodeSection> code_section_at(const RuntimeReader& reader, std::uint64_t ip, bool* unreadable = nullptr);

}  // namespace mixwalk
