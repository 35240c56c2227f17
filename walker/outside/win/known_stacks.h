#pragma once

#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/win/remote_memory.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// The stacks of another process, as far as their pages were readable without side effects before the threads were
// suspended: during the freeze nothing is asked of the target but its bytes. read() is frozen-safe.
class KnownStacks final : public MemoryReader {
 public:
  explicit KnownStacks(const ProcessMemory& raw) noexcept : raw_(raw) {}

  // Not while a thread is suspended: asks `memory` about the pages of one more stack. Limits of 0: there is no stack.
  void add(const RemoteMemory& memory, const StackLimits& limits);

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  // Of one stack. The program may close page after page of it.
  static constexpr int kMaxRanges = 16;

  const ProcessMemory& raw_;
  std::vector<Range> ranges_;  // sorted, disjoint
};

}  // namespace mixwalk
