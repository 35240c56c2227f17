#include "unmanaged/win/plain_memory.h"

#include <windows.h>

#include <algorithm>

#include "unmanaged/win/guarded.h"

namespace mixwalk {
namespace {

bool is_plain(const MEMORY_BASIC_INFORMATION& region) noexcept {
  constexpr DWORD kReadable = PAGE_READONLY | PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READ |
                              PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  return region.State == MEM_COMMIT && (region.Protect & kReadable) != 0 &&
         (region.Protect & PAGE_GUARD) == 0;
}

// Returns how many of these bytes, from the first one on, are plain, or are not.
std::size_t bytes_of_kind(std::uint64_t address, std::size_t bytes, bool plain) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    MEMORY_BASIC_INFORMATION region;
    const auto at = reinterpret_cast<const void*>(address + done);
    if (VirtualQuery(at, &region, sizeof region) == 0 || is_plain(region) != plain) break;
    const std::uint64_t end = reinterpret_cast<std::uint64_t>(region.BaseAddress) + region.RegionSize;
    done = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end - address));
  }
  return done;
}

}  // namespace

std::size_t plain_bytes(std::uint64_t address, std::size_t bytes) noexcept {
  return bytes_of_kind(address, bytes, true);
}

std::size_t closed_bytes(std::uint64_t address, std::size_t bytes) noexcept {
  return bytes_of_kind(address, bytes, false);
}

bool PlainMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  return plain_bytes(address, bytes) == bytes && guarded_copy(into, address, bytes);
}

std::size_t PlainMemory::read_up_to(std::uint64_t address, void* into,
                                    std::size_t bytes) const noexcept {
  const std::size_t plain = plain_bytes(address, bytes);
  return guarded_copy(into, address, plain) ? plain : 0;
}

}  // namespace mixwalk
