#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/minidump/minidump.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// The memory of a dumped process, as far as the dump has it. A read may cross adjoining ranges. The dump must outlive
// this object. One thread at a time: the object remembers the range that was read last.
class DumpMemory final : public MemoryReader {
 public:
  explicit DumpMemory(const Minidump& dump) noexcept
      : file_(dump.file()), mapped_(dump.mapped()), ranges_(dump.memory()) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;
  // Unlike other readers, this one does not stop at the end of a page: it reads up to the first byte that the dump does
  // not have.
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

  // Returns the contiguous bytes that the dump has from that address on; the result is empty if it has none.
  std::span<const std::byte> bytes_at(std::uint64_t address) const noexcept;

 private:
  std::span<const std::byte> file_;
  const MappedFile* mapped_;
  std::span<const MinidumpRange> ranges_;
  mutable std::size_t last_ = 0;  // index into ranges_
};

// Says what was at an address of a dumped process, by the dump's list of regions. A dump without such a list only shows
// which memory it has, so all of that memory may be code. The dump must outlive this object.
class DumpOutsideMemory final : public OutsideMemory {
 public:
  explicit DumpOutsideMemory(const Minidump& dump) noexcept : regions_(dump.regions()), memory_(dump) {}

  MemoryKind kind(std::uint64_t address) noexcept override;
  bool is_image(std::uint64_t address) noexcept override;

 private:
  std::span<const MinidumpRegion> regions_;
  DumpMemory memory_;
};

}  // namespace mixwalk
