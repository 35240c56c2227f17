#pragma once

#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// This process's own memory, asked of the system (VirtualQuery). Not frozen-safe: the answer is kept
// for the region that it is of, so one of these lives as long as the walk of one stack, no longer.
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

// This process's own memory, read where that goes unnoticed: in images of the list that are not closed,
// and outside of them where `outside` says that something can be read. Guarded beside that. As safe as
// `outside` is.
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
