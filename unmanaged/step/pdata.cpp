#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

static_assert(sizeof(FunctionEntry) == 12);

// RUNTIME_FUNCTION_INDIRECT: UnwindData is the RVA + 1 of the entry that has the unwind data.
constexpr std::uint32_t kIndirect = 1;

EntryTable table_of(const ModuleSpan& module) noexcept {
  return {module.base + module.pdata_rva, module.pdata_count};
}

}  // namespace

EntrySearch described_entry(const MemoryReader& memory, std::uint64_t base, const FunctionEntry& entry,
                            std::uint64_t address) noexcept {
  EntrySearch result{.found = true, .entry = entry, .address = address};
  if ((entry.unwind & kIndirect) == 0) return result;
  result.address = base + entry.unwind - kIndirect;
  const auto real = memory.read_value<FunctionEntry>(result.address);
  if (!real) return {StepFault::unreadable_unwind};
  if ((real->unwind & kIndirect) != 0) return {StepFault::bad_unwind};
  result.entry = *real;
  return result;
}

EntrySearch search_table(const MemoryReader& memory, const EntryTable& table, std::uint32_t rva) noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = table.count;
  std::uint32_t gap_begin = 0;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto entry = memory.read_value<FunctionEntry>(table.address_of(middle));
    if (!entry) return {StepFault::unreadable_unwind};
    if (rva < entry->begin) {
      high = middle;
    } else if (rva >= entry->end) {
      low = middle + 1;
      gap_begin = entry->end;
    } else {
      return {.found = true, .entry = *entry, .address = table.address_of(middle)};
    }
  }
  EntrySearch nothing;
  nothing.gap_begin = gap_begin;
  return nothing;
}

EntrySearch find_entry(const MemoryReader& memory, const ModuleSpan& module, std::uint32_t rva,
                       EntryHints* hints) noexcept {
  const EntryTable table = table_of(module);
  if (hints != nullptr) {
    const std::uint32_t place = hints->place(module.base + rva);
    if (place < table.count) {
      const auto entry = memory.read_value<FunctionEntry>(table.address_of(place));
      if (entry && entry->contains(rva)) return described_entry(memory, module.base, *entry, table.address_of(place));
    }
  }
  const EntrySearch found = search_table(memory, table, rva);
  if (!found.found) return found;
  if (hints != nullptr) {
    hints->place(module.base + rva) =
        static_cast<std::uint32_t>((found.address - table.address) / sizeof(FunctionEntry));
  }
  return described_entry(memory, module.base, found.entry, found.address);
}

}  // namespace mixwalk
