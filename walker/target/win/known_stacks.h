#pragma once

#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/win/remote_memory.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// The stacks of another process, as far as their pages were readable without side effects before the threads were
// suspended. So during the freeze only the target's bytes are read. read() is frozen-safe.
class KnownStacks final : public MemoryReader {
 public:
  explicit KnownStacks(const ProcessMemory& raw) noexcept : raw_(raw) {}

  // Not to be called while a thread is suspended, because it asks `memory` about the pages of one more stack. If both
  // limits are 0, there is no stack.
  void add(const RemoteMemory& memory, const StackLimits& limits);

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  // The limit for one stack. The program may make page after page of it unreadable.
  static constexpr int kMaxRanges = 16;

  const ProcessMemory& raw_;
  std::vector<Range> ranges_;  // sorted, disjoint
};

}  // namespace mixwalk
