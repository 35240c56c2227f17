#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/registers.h"

namespace mixwalk {

// A thread's stack from its Rsp up to its base, copied while the thread was frozen, and read by the target's own
// addresses. Frozen-safe: the caller allocates the buffer before the freeze.
//
// RtlVirtualUnwind reads the stack through the registers themselves, so for RtlVirtualUnwind the copy is turned into a
// stack at its own address: rewrite_pointers() changes every word that points into the copied range so that it points
// into the copy, and to_copy/to_target convert registers in both directions. (The method is that of Chromium's
// base/profiler/stack_copier.)
class StackCopy final : public MemoryReader {
 public:
  // The buffer may have any alignment for reading; with 16 bytes, the copy keeps Rsp's own alignment.
  explicit StackCopy(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

  // Copies [from, end), or as much of its leaf end as fits and can be read. The caller has checked the range against
  // the TEB's limits, because the guard page lies below them.
  void fill(const MemoryReader& live, std::uint64_t from, std::uint64_t end) noexcept;
  void clear() noexcept { from_ = 0, bytes_ = 0, offset_ = 0, cut_ = false, rewritten_ = false; }

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

  // Called once per fill, and not while frozen (it touches the whole copy, and nothing needs the result earlier).
  void rewrite_pointers() noexcept;
  Registers to_copy(const Registers& target) const noexcept;
  Registers to_target(const Registers& copy) const noexcept;
  // Returns the word at an address of the target, with its value in the target, or nothing if it was not copied.
  std::optional<std::uint64_t> word(std::uint64_t address) const noexcept;

  // The copied bytes; unchanged until rewrite_pointers() is called.
  std::span<const std::byte> bytes() const noexcept { return buffer_.subspan(offset_, bytes_); }
  std::uint64_t begin() const noexcept { return from_; }
  std::uint64_t end() const noexcept { return from_ + bytes_; }
  // The root end of the copy is missing: the stack was larger than the buffer, one of its pages is missing, or the
  // program has closed or guarded one.
  bool cut() const noexcept { return cut_; }

 private:
  std::uint64_t copy_address() const noexcept {
    return reinterpret_cast<std::uint64_t>(buffer_.data()) + offset_;
  }

  std::span<std::byte> buffer_;
  std::uint64_t from_ = 0;
  std::size_t bytes_ = 0;
  std::size_t offset_ = 0;  // from % 16, so that the copy keeps the stack's alignment
  bool cut_ = false;
  bool rewritten_ = false;
};

}  // namespace mixwalk
