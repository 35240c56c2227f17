#include "walker/clr/contracts/range_map.h"

namespace mixwalk {
namespace {

// Five levels with 256 entries each. An entry of the last level is for 128 KiB.
constexpr int kLevels = 5, kBitsOfLevel = 8, kBitsOfLastLevel = 17;
constexpr std::uint64_t kEntryMask = (1 << kBitsOfLevel) - 1;
// The lowest bit of every pointer in the map is a mark: the pointer leads to code that may be unloaded.
constexpr std::uint64_t kMark = 1;
// Ranges in the same 128 KiB. A range is at least as large as a page of memory.
constexpr int kMaxFragments = 128;
constexpr std::uint32_t kHasStubs = 4;  // a bit of RangeSection.Flags

std::optional<CodeSection> read_section(const RuntimeReader& reader, std::uint64_t address) {
  const auto field = [&](std::string_view name) { return reader.field(address, "RangeSection", name); };
  const auto begin = field("RangeBegin"), end = field("RangeEndOpen");
  const auto heap = field("HeapList"), module = field("R2RModule");
  const auto flags = reader.field<std::uint32_t>(address, "RangeSection", "Flags");
  if (!begin || !end || !heap || !module || !flags) return std::nullopt;
  return CodeSection{address, *begin, *end, *heap, *module, (*flags & kHasStubs) != 0};
}

}  // namespace

std::optional<CodeSection> code_section_at(const RuntimeReader& reader, std::uint64_t ip, bool* unreadable) {
  const auto cannot_read = [unreadable]() -> std::optional<CodeSection> {
    if (unreadable != nullptr) *unreadable = true;
    return std::nullopt;
  };
  const auto map = reader.global("ExecutionManagerCodeRangeMapAddress");
  auto table = map ? reader.address_of(*map, "RangeSectionMap", "TopLevelData") : std::nullopt;
  for (int level = kLevels - 1; level >= 0 && table; --level) {
    const std::uint64_t index = ip >> (kBitsOfLastLevel + kBitsOfLevel * level) & kEntryMask;
    table = reader.value(*table + sizeof(std::uint64_t) * index);
    if (!table) return cannot_read();
    if ((*table &= ~kMark) == 0) return std::nullopt;
  }
  std::uint64_t fragment = table.value_or(0);
  for (int i = 0; fragment != 0 && i < kMaxFragments; ++i) {
    const auto field = [&](std::string_view name) { return reader.field(fragment, "RangeSectionFragment", name); };
    const auto begin = field("RangeBegin"), end = field("RangeEndOpen");
    if (!begin || !end) return cannot_read();
    if (ip >= *begin && ip < *end) {
      const auto section = read_section(reader, field("RangeSection").value_or(0));
      if (!section) return cannot_read();
      // A section that the runtime is about to delete has a mark, and another one may follow.
      const auto deleted = reader.field(section->address, "RangeSection", "NextForDelete");
      if (deleted == 0u && ip >= section->begin && ip < section->end) return section;
    }
    fragment = field("Next").value_or(0) & ~kMark;
  }
  return std::nullopt;
}

}  // namespace mixwalk
