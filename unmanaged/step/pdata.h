#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One RUNTIME_FUNCTION of an image's exception directory, in RVAs; the end is exclusive. (PE format, "The .pdata
// Section", x64.)
struct FunctionEntry {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t unwind = 0;  // RVA of its UNWIND_INFO

  bool contains(std::uint32_t rva) const noexcept { return rva >= begin && rva < end; }
};

struct EntrySearch {
  StepFault fault = StepFault::none;  // unreadable_unwind if the table could not be read
  bool found = false;                 // if false without a fault, the RVA lies in a leaf function or a gap
  FunctionEntry entry;
  std::uint64_t address = 0;  // of the entry itself
  std::uint32_t gap_begin = 0;  // if not found: the RVA of the end of the entry before, or 0 if no entry is before
};

// Returns the entry that has the unwind data of `entry`: itself, or the entry that it refers to (one reference is
// followed). `base` is that of the image; `address` is that of `entry`. Frozen-safe.
EntrySearch described_entry(const MemoryReader& memory, std::uint64_t base, const FunctionEntry& entry,
                            std::uint64_t address) noexcept;

// Remembers where entries were found in their tables; each search begins at the remembered place. A hint is never
// trusted: the entry at that place is read again, and counts only if it covers the RVA. So an image that replaces
// another one makes hints useless, not wrong. Frozen-safe; one thread.
class EntryHints {
 public:
  std::uint32_t& place(std::uint64_t address) noexcept {
    constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;  // Fibonacci hashing
    return places_[address * kGolden >> (64 - kBits)];
  }

 private:
  // If two addresses share a place, the only cost is that each makes the other search again.
  static constexpr unsigned kBits = 11;
  std::array<std::uint32_t, std::size_t{1} << kBits> places_{};
};

// A table of RUNTIME_FUNCTIONs: the address of the first one, and how many there are.
struct EntryTable {
  std::uint64_t address = 0;
  std::uint32_t count = 0;

  std::uint64_t address_of(std::uint32_t place) const noexcept {
    return address + std::uint64_t{place} * sizeof(FunctionEntry);
  }
};

// Returns the entry of a table that covers an RVA, by binary search, and follows no reference. Frozen-safe. A table
// that is not sorted gives a wrong entry or none, never an endless search.
EntrySearch search_table(const MemoryReader& memory, const EntryTable& table, std::uint32_t rva) noexcept;

// Returns the entry that covers an RVA, by binary search. Frozen-safe. If an entry refers to another one, the reference
// is followed once. A table that is not sorted gives a wrong entry or none, never an endless search.
EntrySearch find_entry(const MemoryReader& memory, const ModuleSpan& module, std::uint32_t rva,
                       EntryHints* hints = nullptr) noexcept;

}  // namespace mixwalk
