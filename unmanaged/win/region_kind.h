#pragma once

#include <windows.h>

#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// The kind of a region of memory, as VirtualQuery or VirtualQueryEx describes it. Frozen-safe.
inline MemoryKind kind_of(const MEMORY_BASIC_INFORMATION& region) noexcept {
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

}  // namespace mixwalk
