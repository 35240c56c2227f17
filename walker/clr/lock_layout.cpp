#include "walker/clr/lock_layout.h"

#include <algorithm>
#include <limits>

namespace mixwalk {
namespace {

// ReaderWriterLockSlim.cs of .NET 8 to 10: _owners has a bit for the thread that writes, bits for threads that wait,
// and the number of threads that read. The ids of owners are -1 if there is none. A thread that may begin to write
// (EnterUpgradeableReadLock) counts as one that reads; only if it is the only one, all others wait for it.
std::optional<ClrLock> reader_writer_lock_at(const MemoryReader& memory, std::uint64_t object,
                                             const LockLayout& layout) {
  constexpr std::uint32_t kWriter = 0x8000'0000, kReaders = 0x0FFF'FFFF, kNone = ~0u;
  const auto owners = memory.read_value<std::uint32_t>(object + layout.state);
  const auto writer = memory.read_value<std::uint32_t>(object + layout.owner);
  const auto upgrader = memory.read_value<std::uint32_t>(object + layout.upgrade_owner);
  if (!owners || !writer || !upgrader) return std::nullopt;
  ClrLock lock{.held = (*owners & (kWriter | kReaders)) != 0, .reader_writer = true};
  std::ranges::transform(layout.counters, lock.kept.begin(), [&](std::uint64_t offset) { return object + offset; });
  if ((*owners & kWriter) != 0 && *writer != kNone) {
    lock.owner = *writer;
  } else if ((*owners & (kWriter | kReaders)) == 1 && *upgrader != kNone) {
    lock.owner = *upgrader;
  }
  return lock;
}

std::optional<ClrLock> semaphore_at(const MemoryReader& memory, std::uint64_t object, const LockLayout& layout) {
  const auto count = memory.read_value<std::int32_t>(object + layout.state);
  const auto monitor = memory.read_value<std::uint64_t>(object + layout.wait_event);
  if (!count || !monitor) return std::nullopt;
  return ClrLock{.held = *count == 0, .kept = {*monitor}, .semaphore = true};
}

}  // namespace

std::optional<LockFields> LockFields::of_type(std::string_view type) {
  LockFields fields;
  fields.layout_.reader_writer = type == "System.Threading.ReaderWriterLockSlim";
  fields.layout_.semaphore = type == "System.Threading.SemaphoreSlim";
  const bool other = fields.layout_.reader_writer || fields.layout_.semaphore;
  if (!other && type != "System.Threading.Lock") return std::nullopt;
  return fields;
}

void LockFields::add(std::string_view field, std::uint64_t offset) {
  if (layout_.semaphore) {
    if (field == "m_currentCount") layout_.state = offset;
    if (field == "m_lockObjAndDisposed") layout_.wait_event = offset;
    return;
  }
  const bool reader_writer = layout_.reader_writer;
  if (field == (reader_writer ? "_writeLockOwnerId" : "_owningThreadId")) layout_.owner = offset;
  if (field == (reader_writer ? "_owners" : "_state")) layout_.state = offset;
  if (field == "_recursionCount") layout_.recursion = offset;
  if (field == "_waitEvent") layout_.wait_event = offset;
  if (field == "_upgradeLockOwnerId") layout_.upgrade_owner = offset;
  constexpr std::array<std::string_view, 4> kCounters = {"_numWriteWaiters", "_numReadWaiters",
                                                         "_numWriteUpgradeWaiters", "_numUpgradeWaiters"};
  const auto counter = std::ranges::find(kCounters, field);
  if (counter != kCounters.end()) layout_.counters[static_cast<std::size_t>(counter - kCounters.begin())] = offset;
}

std::optional<LockLayout> LockFields::layout() const {
  if (layout_.semaphore) {
    return layout_.state != 0 && layout_.wait_event != 0 ? std::optional(layout_) : std::nullopt;
  }
  if (layout_.owner == 0 || layout_.state == 0) return std::nullopt;
  const bool counts = std::ranges::find(layout_.counters, 0u) == layout_.counters.end();
  const bool whole = layout_.reader_writer ? layout_.upgrade_owner != 0 && counts
                                           : layout_.recursion != 0 && layout_.wait_event != 0;
  return whole ? std::optional(layout_) : std::nullopt;
}

std::optional<ClrLock> lock_at(const MemoryReader& memory, std::uint64_t object, const LockLayout& layout) {
  if (layout.reader_writer) return reader_writer_lock_at(memory, object, layout);
  if (layout.semaphore) return semaphore_at(memory, object, layout);
  const auto owner = memory.read_value<std::uint32_t>(object + layout.owner);
  const auto state = memory.read_value<std::uint32_t>(object + layout.state);
  const auto recursion = memory.read_value<std::uint32_t>(object + layout.recursion);
  const auto wait_event = memory.read_value<std::uint64_t>(object + layout.wait_event);
  if (!owner || !state || !recursion || !wait_event) return std::nullopt;
  ClrLock lock{.held = (*state & 1) != 0, .kept = {*wait_event}};
  if (lock.held) lock.owner = *owner;
  // The recursion count does not include the first entry. The number comes from the target, and may be the largest
  // possible one.
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (lock.owner != 0) lock.recursion = std::min(*recursion, kMost - 1) + 1;
  return lock;
}

}  // namespace mixwalk
