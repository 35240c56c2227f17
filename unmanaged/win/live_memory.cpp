#include "unmanaged/win/live_memory.h"

#include <windows.h>

#include <utility>

#include "unmanaged/win/guarded.h"

namespace mixwalk {
namespace {

MemoryKind kind_of(const MEMORY_BASIC_INFORMATION& region) noexcept {
  if (region.State != MEM_COMMIT || (region.Protect & PAGE_GUARD) != 0) return MemoryKind::nothing;
  switch (region.Protect & 0xFF) {
    case PAGE_EXECUTE_READ:
    case PAGE_EXECUTE_READWRITE:
    case PAGE_EXECUTE_WRITECOPY: return MemoryKind::code;
    case PAGE_READONLY:
    case PAGE_READWRITE:
    case PAGE_WRITECOPY: return MemoryKind::data;
    // PAGE_EXECUTE alone cannot be read on every processor.
    default: return MemoryKind::nothing;
  }
}

}  // namespace

MemoryKind LiveMemory::kind(std::uint64_t address) noexcept {
  const auto holds = [&](const Region& region) {
    return address >= region.begin && address < region.end;
  };
  if (holds(newest_)) return newest_.kind;
  if (holds(older_)) {
    std::swap(newest_, older_);
    return newest_.kind;
  }
  MEMORY_BASIC_INFORMATION region;
  if (VirtualQuery(reinterpret_cast<const void*>(address), &region, sizeof region) == 0) {
    return MemoryKind::nothing;
  }
  older_ = newest_;
  const auto begin = reinterpret_cast<std::uint64_t>(region.BaseAddress);
  newest_ = {begin, begin + region.RegionSize, kind_of(region)};
  return newest_.kind;
}

// Less than a page is read at a time, so its two ends speak for all of it.
bool KnownMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  constexpr std::size_t kPageBytes = 4096;
  if (bytes == 0) return true;
  return bytes <= kPageBytes && is_readable(address) && is_readable(address + bytes - 1) &&
         guarded_copy(into, address, bytes);
}

bool KnownMemory::is_readable(std::uint64_t address) const noexcept {
  if (const ModuleSpan* image = images_.find(address)) return !image->closed;
  const MemoryKind kind = outside_.kind(address);
  return kind == MemoryKind::code || kind == MemoryKind::data;
}

}  // namespace mixwalk
