#pragma once

#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// Memory outside every image about which nothing is known.
class UnknownOutsideMemory final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t) noexcept override { return MemoryKind::unknown; }
};

}  // namespace mixwalk
