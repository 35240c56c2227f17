#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/outside_memory.h"
#include "unmanaged/win/process_memory.h"

namespace mixwalk {

// Reads the memory of another process, and says of what kind it is (VirtualQueryEx). A read first asks for the kind,
// and fails if the memory is closed or guarded: on Windows an access to a guard page removes its guard, so the read
// would change the target. The answer for a region is kept until drop(); a running target may close a page in between.
// Not frozen-safe; one thread at a time.
class RemoteMemory final : public MemoryReader, public OutsideMemory {
 public:
  // Does not own the handle, which has PROCESS_VM_READ and PROCESS_QUERY_INFORMATION.
  explicit RemoteMemory(HANDLE process);

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;
  MemoryKind kind(std::uint64_t address) noexcept override;
  bool is_image(std::uint64_t address) noexcept override { return region_at(address).is_image; }

  // Returns how many of these bytes, from the first one on, can be read without harm.
  std::uint64_t plain_bytes(std::uint64_t address, std::uint64_t bytes) const noexcept;

  // Returns the begin and the end of the pages of one kind around the address; both are 0 if these cannot be read
  // without harm.
  std::pair<std::uint64_t, std::uint64_t> plain_region(std::uint64_t address) const noexcept;

  // Returns the end of the pages of one kind that begin at or before the address, or 0 if the system tells nothing of
  // the address, as of one beyond the address space.
  std::uint64_t region_end(std::uint64_t address) const noexcept {
    const Region region = region_at(address);
    return region.end - region.begin > 1 ? region.end : 0;
  }

  void drop() noexcept { regions_.clear(); }

 private:
  struct Region {
    std::uint64_t begin = 0, end = 0;
    MemoryKind kind = MemoryKind::nothing;
    bool is_image = false;
  };
  // A large process has some ten thousand regions; those beyond this limit are asked for again.
  static constexpr std::size_t kMaxRegions = 4096;

  Region region_at(std::uint64_t address) const noexcept;

  const HANDLE process_;
  const ProcessMemory memory_;
  mutable std::vector<Region> regions_;  // sorted, disjoint; never grows beyond what it has reserved
};

}  // namespace mixwalk
