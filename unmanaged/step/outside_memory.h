#pragma once

#include <cstdint>

namespace mixwalk {

enum class MemoryKind : std::uint8_t {
  unknown,  // not to be asked about now, and so not to be read
  nothing,  // no memory, or none that can be read unnoticed (a guard page)
  data,
  code,     // instructions may lie there
};

// The memory outside every image: jitted code, thunks, cells, heaps, stacks. A word of a stack can point anywhere, and
// reading a page can change its state. So kind() is called before an address is read. Each implementation says whether
// it is frozen-safe.
class OutsideMemory {
 public:
  virtual MemoryKind kind(std::uint64_t address) noexcept = 0;

 protected:
  ~OutsideMemory() = default;
};

}  // namespace mixwalk
