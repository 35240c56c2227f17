#pragma once

#include <cstdint>

#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// The kind of memory in pages with this state (MEM_*) and protection (PAGE_*), as VirtualQuery and a dump's list of
// regions give them. Frozen-safe. (Microsoft Learn, "Memory Protection Constants".)
constexpr MemoryKind kind_of_pages(std::uint32_t state, std::uint32_t protection) noexcept {
  constexpr std::uint32_t kCommit = 0x1000, kGuard = 0x100;
  if (state != kCommit || (protection & kGuard) != 0) return MemoryKind::nothing;
  switch (protection & 0xFF) {
    case 0x20:    // PAGE_EXECUTE_READ
    case 0x40:    // PAGE_EXECUTE_READWRITE
    case 0x80:    // PAGE_EXECUTE_WRITECOPY
      return MemoryKind::code;
    case 0x02:    // PAGE_READONLY
    case 0x04:    // PAGE_READWRITE
    case 0x08:    // PAGE_WRITECOPY
      return MemoryKind::data;
    // PAGE_EXECUTE alone cannot be read on every processor.
    default: return MemoryKind::nothing;
  }
}

}  // namespace mixwalk
