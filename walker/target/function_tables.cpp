#include "walker/target/function_tables.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "unmanaged/image/exports_name.h"
#include "unmanaged/user_address.h"

namespace mixwalk {
namespace {

// A .NET process has two tables for each of its code heaps. The limit is for a list that a dump has made up.
constexpr std::size_t kMaxTables = 16'384;
// Tables that describe the same address: a .NET code heap has a callback and a growable table.
constexpr int kMaxOverlapping = 8;
// An unsorted table is read from its beginning at each look-up. A larger one is not used.
constexpr std::uint32_t kMaxUnsorted = 16'384;

// RtlGetFunctionTableListHead: lea rax, [rip + distance]; ret.
constexpr std::array<std::uint8_t, 3> kLeaRax = {0x48, 0x8D, 0x05};
constexpr std::size_t kDistanceAt = kLeaRax.size(), kRetAt = kDistanceAt + 4;
constexpr std::uint8_t kRet = 0xC3;

// RUNTIME_FUNCTION_INDIRECT. No table outside an image refers to another one.
constexpr std::uint32_t kIndirect = 1;

}  // namespace

std::uint64_t FunctionTables::list_head() const noexcept {
  const auto rva = ntdll_ != 0 ? export_rva(memory_, ntdll_, "RtlGetFunctionTableListHead") : std::nullopt;
  if (!rva || *rva >= ntdll_bytes_) return 0;
  std::array<std::uint8_t, kRetAt + 1> code{};
  if (!memory_.read(ntdll_ + *rva, code.data(), code.size())) return 0;
  if (!std::equal(kLeaRax.begin(), kLeaRax.end(), code.begin()) || code[kRetAt] != kRet) return 0;
  std::int32_t distance = 0;
  std::memcpy(&distance, code.data() + kDistanceAt, sizeof distance);
  const std::int64_t head = std::int64_t{*rva} + static_cast<std::int64_t>(kRetAt) + distance;
  return head >= 0 && head < ntdll_bytes_ ? ntdll_ + static_cast<std::uint64_t>(head) : 0;
}

// Each node must lead back to the one before. In a process that runs, the list may be changing; the tables that were
// read until then are kept, because each entry is checked for itself.
void FunctionTables::read_list() {
  tables_.emplace();
  const std::uint64_t head = list_head();
  std::uint64_t previous = head;
  std::uint64_t at = head != 0 ? memory_.read_value<std::uint64_t>(head).value_or(head) : head;
  for (std::size_t i = 0; at != head && i < kMaxTables; ++i) {
    const auto table = memory_.read_value<Table>(at);
    if (!table || table->previous != previous) return;
    if (is_user_address(table->first) && is_user_address(table->last)) tables_->push_back(*table);
    previous = at;
    at = table->next;
  }
}

FunctionTables::Found FunctionTables::find(std::uint64_t address) {
  if (!tables_) read_list();
  Found found;
  int looked = 0;
  for (const Table& table : *tables_) {
    if (!table.contains(address)) continue;
    if (++looked > kMaxOverlapping) break;
    if (table.kind == Kind::callback) {
      found.by_callback = true;
      continue;
    }
    if (address < table.base || address - table.base > UINT32_MAX) continue;
    found.entry = entry_of(table, static_cast<std::uint32_t>(address - table.base));
    found.base = table.base;
    if (found.entry) break;
  }
  return found;
}

std::optional<FunctionEntry> FunctionTables::entry_of(const Table& table, std::uint32_t rva) const {
  if (!is_user_address(table.entries)) return std::nullopt;
  switch (table.kind) {
    case Kind::sorted:
    case Kind::growable: return sorted_entry(table, rva);
    case Kind::unsorted: return unsorted_entry(table, rva);
    default: return std::nullopt;
  }
}

// A growable table may have grown since its count was read. The entries up to that count stay where they are. A table
// to which an entry is being added has an entry twice, or two entries in the wrong order.
std::optional<FunctionEntry> FunctionTables::sorted_entry(const Table& table, std::uint32_t rva) const {
  const EntryTable entries{table.entries, table.count};
  const EntrySearch search = search_table(memory_, entries, rva);
  if (!search.found || !is_sound(table, search.entry)) return std::nullopt;
  const auto place = static_cast<std::uint32_t>((search.address - entries.address) / sizeof(FunctionEntry));
  if (place != 0) {
    const auto before = memory_.read_value<FunctionEntry>(entries.address_of(place - 1));
    if (!before || before->begin > before->end || before->end > search.entry.begin) return std::nullopt;
  }
  if (place + 1 != entries.count) {
    const auto after = memory_.read_value<FunctionEntry>(entries.address_of(place + 1));
    if (!after || after->begin < search.entry.end) return std::nullopt;
  }
  return search.entry;
}

std::optional<FunctionEntry> FunctionTables::unsorted_entry(const Table& table, std::uint32_t rva) const {
  if (table.count > kMaxUnsorted) return std::nullopt;
  const EntryTable entries{table.entries, table.count};
  std::array<FunctionEntry, 256> part;
  for (std::uint32_t place = 0; place < entries.count; place += static_cast<std::uint32_t>(part.size())) {
    const std::size_t count = std::min<std::size_t>(part.size(), entries.count - place);
    if (!memory_.read(entries.address_of(place), part.data(), count * sizeof(FunctionEntry))) return std::nullopt;
    const auto end = part.begin() + static_cast<std::ptrdiff_t>(count);
    const auto entry =
        std::find_if(part.begin(), end, [&](const FunctionEntry& candidate) { return candidate.contains(rva); });
    if (entry != end) return is_sound(table, *entry) ? std::optional(*entry) : std::nullopt;
  }
  return std::nullopt;
}

// The runtime of .NET sets the unwind data of code that it has freed to 0.
bool FunctionTables::is_sound(const Table& table, const FunctionEntry& entry) const noexcept {
  return entry.begin < entry.end && entry.unwind != 0 && (entry.unwind & kIndirect) == 0 &&
         table.contains(table.base + entry.begin) && table.contains(table.base + entry.end - 1);
}

}  // namespace mixwalk
