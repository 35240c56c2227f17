#pragma once

#include <cstddef>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Returns how many of these bytes, from the first one on, can be read without a fault, because their pages are
// committed, and neither closed (PAGE_NOACCESS, PAGE_EXECUTE alone) nor guarded by the program (PAGE_GUARD).
// Frozen-safe: on Windows, VirtualQuery is a system call and takes no lock in user mode. Wine's VirtualQuery holds a
// mutex with signals off, and Wine suspends by a signal, so no frozen thread holds that mutex. Takes about a
// microsecond for each region of pages with the same protection.
std::size_t plain_bytes(std::uint64_t address, std::size_t bytes) noexcept;
// Returns how many of these bytes, from the first one on, cannot be read so. Frozen-safe in the same way.
std::size_t closed_bytes(std::uint64_t address, std::size_t bytes) noexcept;

// Reads this process's own memory. A read first asks plain_bytes, and fails if the memory is not plain. A read faults
// only if the memory changes between the question and the copy; the copy is guarded. Frozen-safe (plain_bytes). Any
// number of threads may use it.
class PlainMemory final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;
  std::size_t read_up_to(std::uint64_t address, void* into,
                         std::size_t bytes) const noexcept override;
};

}  // namespace mixwalk
