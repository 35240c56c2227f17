#pragma once

#include <cstdint>

namespace mixwalk {

enum class MemoryKind : std::uint8_t {
  unknown,  // cannot be determined now, so the memory must not be read
  nothing,  // no memory, or memory that cannot be read unnoticed (a guard page)
  data,
  code,     // instructions may lie there
};

// The memory outside every image: jitted code, thunks, cells, heaps, stacks. A word of a stack can point anywhere, and
// reading a page can change its state, so kind() is called before an address is read. Each implementation says whether
// it is frozen-safe.
class OutsideMemory {
 public:
  virtual MemoryKind kind(std::uint64_t address) noexcept = 0;
  // Whether the system says that an image is mapped there (MEM_IMAGE). False if that is not known.
  virtual bool is_image(std::uint64_t /*address*/) noexcept { return false; }

 protected:
  ~OutsideMemory() = default;
};

}  // namespace mixwalk
