#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A cache of whole pages for memory that is costly to read, since a debugging library reads the same few pages word by
// word. A page is kept as it was when it was first read, until drop(). A page that cannot be read is remembered, too.
// Neighbouring pages that one read needs are read together, since each read of another process is a request to the
// system; with `around`, so are pages that are likely to be needed next. Holds at most `pages` pages; a page replaces
// another one in the same slot. Not frozen-safe; one thread at a time.
class PageCache final : public MemoryReader {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPages = 8192;  // 32 MiB

  // The memory around an address that can be read as well as the address itself: its begin and its end.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  using Around = std::function<Range(std::uint64_t address)>;

  explicit PageCache(const MemoryReader& memory, std::size_t pages = kPages, Around around = {})
      : memory_(memory), around_(std::move(around)), slots_(pages) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;
  // Of a page of which only a part can be read, that part is read.
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

  // To be called when the target may have changed: every page is read anew.
  void drop() noexcept;

  // How many pages were read from the underlying memory since the cache was created.
  std::uint64_t pages_read() const noexcept { return pages_read_; }

 private:
  using Page = std::array<std::byte, kPageBytes>;
  struct Slot {
    std::uint64_t number = kNoPage;  // address / kPageBytes
    bool there = false;
    std::unique_ptr<Page> page;
  };
  static constexpr std::uint64_t kNoPage = ~0ull;

  Slot& slot_of(std::uint64_t number) const noexcept;
  // Makes the slot the page's. Returns false if there is no memory to keep the page in.
  bool claim(Slot& slot, std::uint64_t number) const noexcept;
  // Returns null if the page cannot be read, or if there is no memory to keep it in.
  const Page* page(std::uint64_t number) const noexcept;
  // Reads the page together with those of its block that can be read as well.
  void read_block(std::uint64_t number) const noexcept;
  // Reads those of these pages that are not there. Pages that cannot be read together are left.
  void read_together(std::uint64_t first, std::uint64_t last) const noexcept;

  const MemoryReader& memory_;
  const Around around_;
  mutable std::vector<Slot> slots_;
  mutable std::unique_ptr<std::byte[]> together_;  // pages that were read together
  mutable std::uint64_t pages_read_ = 0;
};

}  // namespace mixwalk
