#include "unmanaged/win/live_memory.h"

#include <windows.h>

#include <algorithm>

#include "unmanaged/step/page_kind.h"
#include "unmanaged/win/guarded.h"

namespace mixwalk {

MemoryKind LiveMemory::kind(std::uint64_t address) noexcept {
  if (const Region* known = find(address)) return known->kind;
  MEMORY_BASIC_INFORMATION region;
  if (VirtualQuery(reinterpret_cast<const void*>(address), &region, sizeof region) == 0) {
    return MemoryKind::nothing;
  }
  const auto begin = reinterpret_cast<std::uint64_t>(region.BaseAddress);
  std::shift_right(regions_.begin(), regions_.end(), 1);
  regions_[0] = {begin, begin + region.RegionSize, kind_of_pages(region.State, region.Protect)};
  return regions_[0].kind;
}

void LiveMemory::begin_stack(std::uint64_t now_ms) noexcept {
  if (now_ms - forgotten_ms_ >= kKeptMs) {
    forgotten_ms_ = now_ms;
    forget();
  }
  for (Region& region : regions_) {
    if (!region.kept) region = {};
  }
}

void LiveMemory::keep(std::uint64_t address) noexcept {
  Region* const region = find(address);
  if (region != nullptr && region->kind == MemoryKind::code) region->kept = true;
}

LiveMemory::Region* LiveMemory::find(std::uint64_t address) noexcept {
  const auto found = std::ranges::find_if(regions_, [&](const Region& region) {
    return address >= region.begin && address < region.end;
  });
  if (found == regions_.end()) return nullptr;
  std::rotate(regions_.begin(), found, found + 1);
  return &regions_[0];
}

// Less than a page is read at a time, so it is enough to check the first and the last byte.
bool KnownMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  constexpr std::size_t kPageBytes = 4096;
  if (bytes == 0) return true;
  return bytes <= kPageBytes && is_readable(address) && is_readable(address + bytes - 1) &&
         guarded_copy(into, address, bytes);
}

bool KnownMemory::is_readable(std::uint64_t address) const noexcept {
  if (const ModuleSpan* image = images_.find(address)) return image->may_read(address, 1);
  const MemoryKind kind = outside_.kind(address);
  return kind == MemoryKind::code || kind == MemoryKind::data;
}

}  // namespace mixwalk
