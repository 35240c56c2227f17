#include "walker/target/win/known_stacks.h"

#include <algorithm>
#include <iterator>

namespace mixwalk {

void KnownStacks::add(const RemoteMemory& memory, const StackLimits& limits) {
  int count = 0;
  // A wrong TEB may name a range as large as the address space, which has few regions and many pages.
  for (std::uint64_t at = limits.limit, end = 0; at < limits.base && count < kMaxRanges; at = end) {
    const std::uint64_t plain = memory.plain_bytes(at, limits.base - at);
    // A wrong TEB may name the stack of another thread.
    const auto next = std::ranges::lower_bound(ranges_, at, {}, &Range::begin);
    const bool apart = (next == ranges_.end() || at + plain <= next->begin) &&
                       (next == ranges_.begin() || std::prev(next)->end <= at);
    if (plain != 0 && apart) {
      ranges_.insert(next, {at, at + plain});
      ++count;
    }
    end = memory.region_end(at + plain);  // of unreadable pages, or of pages that are traps
    if (end <= at) return;
  }
}

bool KnownStacks::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin()) return false;
  const Range& range = *std::prev(after);
  return address <= range.end && bytes <= range.end - address && raw_.read(address, into, bytes);
}

}  // namespace mixwalk
