#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kEntryBytes = 12;
static_assert(sizeof(FunctionEntry) == kEntryBytes);

// RUNTIME_FUNCTION_INDIRECT: UnwindData is the RVA + 1 of the entry that holds the real one.
constexpr std::uint32_t kIndirect = 1;

}  // namespace

EntrySearch find_entry(const MemoryReader& memory, const ModuleSpan& module,
                       std::uint32_t rva) noexcept {
  const std::uint64_t table = module.base + module.pdata_rva;
  std::uint32_t low = 0;
  std::uint32_t high = module.pdata_count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto entry =
        memory.read_value<FunctionEntry>(table + std::uint64_t{middle} * kEntryBytes);
    if (!entry) return {StepFault::unreadable_unwind};
    if (rva < entry->begin) {
      high = middle;
    } else if (rva >= entry->end) {
      low = middle + 1;
    } else {
      EntrySearch result{.found = true, .entry = *entry};
      if ((entry->unwind & kIndirect) != 0) {
        const auto real = memory.read_value<FunctionEntry>(module.base + entry->unwind - kIndirect);
        if (!real) return {StepFault::unreadable_unwind};
        if ((real->unwind & kIndirect) != 0) return {StepFault::bad_unwind};
        result.entry = *real;
      }
      return result;
    }
  }
  return {};
}

}  // namespace mixwalk
