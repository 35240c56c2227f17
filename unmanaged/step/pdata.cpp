#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kEntryBytes = 12;
static_assert(sizeof(FunctionEntry) == kEntryBytes);

// RUNTIME_FUNCTION_INDIRECT: UnwindData is the RVA + 1 of the entry that has the unwind data.
constexpr std::uint32_t kIndirect = 1;

std::uint64_t address_of(const ModuleSpan& module, std::uint32_t place) noexcept {
  return module.base + module.pdata_rva + std::uint64_t{place} * kEntryBytes;
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

EntrySearch find_entry(const MemoryReader& memory, const ModuleSpan& module, std::uint32_t rva,
                       EntryHints* hints) noexcept {
  if (hints != nullptr) {
    const std::uint32_t place = hints->place(module.base + rva);
    if (place < module.pdata_count) {
      const auto entry = memory.read_value<FunctionEntry>(address_of(module, place));
      if (entry && entry->contains(rva)) return described_entry(memory, module.base, *entry, address_of(module, place));
    }
  }
  std::uint32_t low = 0;
  std::uint32_t high = module.pdata_count;
  std::uint32_t gap_begin = 0;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto entry = memory.read_value<FunctionEntry>(address_of(module, middle));
    if (!entry) return {StepFault::unreadable_unwind};
    if (rva < entry->begin) {
      high = middle;
    } else if (rva >= entry->end) {
      low = middle + 1;
      gap_begin = entry->end;
    } else {
      if (hints != nullptr) hints->place(module.base + rva) = middle;
      return described_entry(memory, module.base, *entry, address_of(module, middle));
    }
  }
  EntrySearch nothing;
  nothing.gap_begin = gap_begin;
  return nothing;
}

}  // namespace mixwalk
