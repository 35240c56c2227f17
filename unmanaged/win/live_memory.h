#pragma once

#include <array>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/outside_memory.h"

namespace mixwalk {

// The kind of this process's own memory, from the system (VirtualQuery). Not frozen-safe. One thread at a time.
//
// An answer is kept for the walk of one stack, since the program may free, close or guard its memory at any time. The
// answer for code of the CLR is kept for some more stacks: the owner of this object says which code is the CLR's
// (keep), and when some of that code is unloaded (forget). The system answers for a whole allocation or a part of one,
// so everything around code of the CLR in one region is the CLR's as well. The CLR reads and runs that code itself, so
// it never guards or closes the code.
//
// Folklore: Wine's VirtualQuery takes 0.6 µs, but 38 µs for memory of a section that is committed piece by piece
// (SEC_RESERVE), because Wine asks its server. All code of the CLR is in such memory since .NET 7. A stack meets two
// such regions. Asking about both was half the time of a merge.
class LiveMemory final : public OutsideMemory {
 public:
  static constexpr std::uint64_t kKeptMs = 100;

  MemoryKind kind(std::uint64_t address) noexcept override;

  // To be called before each stack, with a time in milliseconds (GetTickCount64). Forgets everything that was not kept,
  // and everything else once in kKeptMs: a limit for cases that nobody has thought of.
  void begin_stack(std::uint64_t now_ms) noexcept;
  // The code at this address is the CLR's, so the answer for its region is kept beyond this stack.
  void keep(std::uint64_t address) noexcept;
  // Called when some code of the CLR may have been unloaded.
  void forget() noexcept { regions_ = {}; }

 private:
  struct Region {
    std::uint64_t begin = 0, end = 0;  // the range is empty if the entry is unused
    MemoryKind kind = MemoryKind::nothing;
    bool kept = false;
  };
  Region* find(std::uint64_t address) noexcept;

  // The regions that were used last come first. A stack alternates between a few heaps of code.
  std::array<Region, 8> regions_{};
  std::uint64_t forgotten_ms_ = 0;  // the last time at which everything was forgotten
};

// Reads this process's own memory only where a read should not fault: in listed images (ModuleSpan::may_read), and
// outside the images if `outside` says that the memory can be read. Each read is guarded as well. Frozen-safe if
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
