#include "unmanaged/win/remote_memory.h"

#include <algorithm>

#include "unmanaged/step/page_kind.h"
#include "unmanaged/user_address.h"

namespace mixwalk {

RemoteMemory::RemoteMemory(HANDLE process) : process_(process), memory_(process) {
  regions_.reserve(kMaxRegions);
}

RemoteMemory::Region RemoteMemory::region_at(std::uint64_t address) const noexcept {
  const auto next = std::upper_bound(regions_.begin(), regions_.end(), address,
                                     [](std::uint64_t at, const Region& region) { return at < region.begin; });
  if (next != regions_.begin() && address < std::prev(next)->end) return *std::prev(next);
  // A word of a text or of a damaged object is no address, and many are asked about. Under Wine each question makes a
  // thread of the target run.
  if (!is_user_address(address)) return {address, address + 1, MemoryKind::nothing};
  MEMORY_BASIC_INFORMATION info;
  if (VirtualQueryEx(process_, reinterpret_cast<const void*>(address), &info, sizeof info) == 0) {
    return {address, address + 1, MemoryKind::nothing};
  }
  const auto begin = reinterpret_cast<std::uint64_t>(info.BaseAddress);
  const Region region{begin, begin + info.RegionSize, kind_of_pages(info.State, info.Protect), info.Type == MEM_IMAGE};
  if (address < region.begin || address >= region.end) return {address, address + 1, MemoryKind::nothing};
  // The target runs, so a region may have grown over its neighbours since they were asked for.
  const auto first = std::lower_bound(regions_.begin(), regions_.end(), region.begin,
                                      [](const Region& known, std::uint64_t at) { return known.end <= at; });
  auto last = first;
  while (last != regions_.end() && last->begin < region.end) ++last;
  const auto place = regions_.erase(first, last);
  if (regions_.size() == kMaxRegions) {
    regions_.clear();
    regions_.push_back(region);
  } else {
    regions_.insert(place, region);
  }
  return region;
}

std::pair<std::uint64_t, std::uint64_t> RemoteMemory::plain_region(std::uint64_t address) const noexcept {
  const Region region = region_at(address);
  const bool plain = region.kind == MemoryKind::code || region.kind == MemoryKind::data;
  return plain ? std::pair(region.begin, region.end) : std::pair<std::uint64_t, std::uint64_t>();
}

std::uint64_t RemoteMemory::plain_bytes(std::uint64_t address, std::uint64_t bytes) const noexcept {
  std::uint64_t done = 0;
  while (done < bytes) {
    const Region region = region_at(address + done);
    if (region.kind != MemoryKind::code && region.kind != MemoryKind::data) break;
    done = region.end - address;
  }
  return std::min(done, bytes);
}

bool RemoteMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  if (bytes == 0) return true;
  if (address + bytes - 1 < address) return false;
  return plain_bytes(address, bytes) == bytes && memory_.read(address, into, bytes);
}

MemoryKind RemoteMemory::kind(std::uint64_t address) noexcept { return region_at(address).kind; }

}  // namespace mixwalk
