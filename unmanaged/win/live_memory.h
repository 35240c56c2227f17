#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// The kind of this process's own memory, as the system says (VirtualQuery). Not frozen-safe. Answers are
// kept for their regions, so an object must live no longer than the walk of one stack.
class LiveMemory final : public OutsideMemory {
 public:
  MemoryKind kind(std::uint64_t address) noexcept override;

 private:
  struct Region {
    std::uint64_t begin = 0, end = 0;
    MemoryKind kind = MemoryKind::nothing;
  };
  Region newest_, older_;  // a stack goes back and forth between two heaps of code
};

// Reads this process's own memory only where a read should not fault: in listed images that are not
// closed, and outside the images where `outside` says that memory can be read. Each read is guarded as
// well. Frozen-safe if `outside` is.
class KnownMemory final : public MemoryReader {
 public:
  KnownMemory(const ModuleView& images, OutsideMemory& outside) noexcept
      : images_(images), outside_(outside) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

 private:
  bool is_readable(std::uint64_t address) const noexcept;

  const ModuleView& images_;
  OutsideMemory& outside_;
};

}  // namespace mixwalk
