#include "walker/clr/contracts/sync_blocks.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kLastNumber = 0x03FF'FFFF;  // an object's header has 26 bits for the number
// The bits of an object's header. (syncblk.h of the runtime.)
constexpr std::uint32_t kHasNumberOrHash = 0x0800'0000, kHasHash = 0x0400'0000;
constexpr std::uint64_t kHeaderBefore = 4;  // bytes before the object
constexpr std::uint64_t kFree = 1;          // a bit of an entry's object
// Bits of a lock's state: held, and the number of threads that wait to enter.
constexpr std::uint32_t kHeld = 1, kFirstWaiter = 1 << 6;
constexpr std::uint32_t kNumberMask = 0x7FFF'FFFF;  // the bit above says that the sync block must be kept
// The time limit for one answer. The clock is read once for so many entries.
constexpr std::chrono::milliseconds kTime{250};
constexpr std::uint32_t kEntriesOfClock = 256;
// After so many entries in a row that belong to no object the table is over.
constexpr std::uint32_t kUnknownAtEnd = 256;

struct Entry {
  std::uint64_t block = 0, object = 0;
};

std::optional<Entry> entry_at(const RuntimeReader& reader, std::uint64_t table, std::uint32_t number) {
  const std::uint64_t at = table + reader.descriptor().size("SyncTableEntry").value_or(0) * std::uint64_t{number};
  const auto block = reader.field(at, "SyncTableEntry", "SyncBlock");
  const auto object = reader.field(at, "SyncTableEntry", "Object");
  return block && object ? std::optional(Entry{*block, *object}) : std::nullopt;
}

bool names_its_entry(const RuntimeReader& reader, std::uint64_t object, std::uint32_t number) {
  if (object < kHeaderBefore) return false;
  const auto header = reader.value<std::uint32_t>(object - kHeaderBefore);
  return header && (*header & kHasNumberOrHash) != 0 && (*header & kHasHash) == 0 && (*header & kLastNumber) == number;
}

std::uint64_t owner_of(const RuntimeReader& reader, std::uint64_t block, std::span<const ClrThread> threads) {
  // In .NET 9 a pointer to the Thread, in .NET 10 its managed id.
  if (const auto thread = reader.field(block, "SyncBlock", "OwnerThread")) return *thread;
  const auto id = reader.field<std::uint32_t>(block, "SyncBlock", "OwnerId");
  if (!id || *id == 0) return 0;
  const auto found = std::ranges::find(threads, *id, &ClrThread::managed_id);
  return found == threads.end() ? 0 : found->address;
}

// Returns nothing if no thread holds the lock or waits for it, or if this is not the entry's sync block.
std::optional<ClrSyncBlock> read_block(const RuntimeReader& reader, const Entry& entry, std::uint32_t number,
                                       std::span<const ClrThread> threads) {
  const auto state = reader.field<std::uint32_t>(entry.block, "SyncBlock", "LockState");
  const auto recursion = reader.field<std::uint32_t>(entry.block, "SyncBlock", "Recursion");
  const auto own_number = reader.field<std::uint32_t>(entry.block, "SyncBlock", "Number");
  if (!state || !recursion || !own_number || (*own_number & kNumberMask) != number) return std::nullopt;
  // Threads in Monitor.Wait are in a list.
  const bool waited = reader.field(entry.block, "SyncBlock", "Link").value_or(0) != 0;
  if ((*state & kHeld) == 0 && *state < kFirstWaiter && !waited) return std::nullopt;
  ClrSyncBlock block{.address = entry.block, .object = entry.object, .held = (*state & kHeld) != 0};
  if (block.held) {
    block.owner = owner_of(reader, entry.block, threads);
    block.recursion = *recursion;
  }
  return block;
}

}  // namespace

ClrSyncBlocks contract_sync_blocks(const RuntimeReader& reader, std::span<const ClrThread> threads,
                                   std::uint32_t first) {
  const auto end = std::chrono::steady_clock::now() + kTime;
  ClrSyncBlocks found;
  const auto table = reader.variable("SyncTableEntries");
  if (!table || *table == 0) {
    found.unreadable = true;
    return found;
  }
  std::uint32_t unknown = 0;
  for (std::uint32_t number = std::max(first, 1u); number < kLastNumber && unknown < kUnknownAtEnd; ++number) {
    if (number % kEntriesOfClock == 0 && number != first && std::chrono::steady_clock::now() >= end) {
      found.next = number;
      return found;
    }
    const auto entry = entry_at(reader, *table, number);
    if (!entry) {
      // The table lies in memory of its own, so usually nothing is behind it.
      found.unreadable = unknown == 0 && number == 1;
      return found;
    }
    if ((entry->object & kFree) != 0) {
      unknown = 0;
      continue;
    }
    ++unknown;
    if (entry->object == 0 || !names_its_entry(reader, entry->object, number)) continue;
    unknown = 0;
    if (found.blocks.size() == kMaxSyncBlocks) {
      found.next = number;
      return found;
    }
    if (entry->block == 0) continue;
    if (auto block = read_block(reader, *entry, number, threads)) found.blocks.push_back(*block);
  }
  return found;
}

}  // namespace mixwalk
