#include "walker/target/page_cache.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mixwalk {
namespace {

// Larger reads are stacks and whole images, which would only displace the small pages.
constexpr std::size_t kMaxCachedBytes = 16 * PageCache::kPageBytes;  // they touch 17 pages at most
// Real case under Wine: a look at the locks of 200 threads read 1,266 pages, 1,917 times, and a thread of the target
// stood still for each read.
constexpr std::uint64_t kPagesOfBlock = 8;

}  // namespace

PageCache::Slot& PageCache::slot_of(std::uint64_t number) const noexcept {
  constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;  // Fibonacci hashing
  return slots_[(number * kGolden >> 32) % slots_.size()];
}

bool PageCache::claim(Slot& slot, std::uint64_t number) const noexcept {
  if (slot.page == nullptr) slot.page.reset(new (std::nothrow) Page);
  if (slot.page == nullptr) return false;
  ++pages_read_;
  slot.number = number;
  slot.there = false;
  return true;
}

const PageCache::Page* PageCache::page(std::uint64_t number) const noexcept {
  Slot& slot = slot_of(number);
  if (slot.number != number && around_) read_block(number);
  if (slot.number == number) return slot.there ? slot.page.get() : nullptr;
  if (!claim(slot, number)) return nullptr;
  slot.there = memory_.read(number * kPageBytes, slot.page->data(), kPageBytes);
  return slot.there ? slot.page.get() : nullptr;
}

void PageCache::read_block(std::uint64_t number) const noexcept {
  const Range range = around_(number * kPageBytes);
  const std::uint64_t block = number - number % kPagesOfBlock;
  const std::uint64_t begin = std::max((range.begin + kPageBytes - 1) / kPageBytes, block);
  const std::uint64_t end = std::min(range.end / kPageBytes, block + kPagesOfBlock);
  if (begin <= number && number < end) read_together(begin, end - 1);
}

void PageCache::read_together(std::uint64_t first, std::uint64_t last) const noexcept {
  const auto is_missing = [this](std::uint64_t number) { return slot_of(number).number != number; };
  for (std::uint64_t end = first; first < last; first = std::max(end, first + 1)) {
    for (end = first; end <= last && is_missing(end);) ++end;
    if (end - first < 2) continue;
    if (together_ == nullptr) together_.reset(new (std::nothrow) std::byte[kMaxCachedBytes + kPageBytes]);
    if (together_ == nullptr) return;
    if (!memory_.read(first * kPageBytes, together_.get(), (end - first) * kPageBytes)) continue;
    for (std::uint64_t number = first; number < end; ++number) {
      Slot& slot = slot_of(number);
      if (!claim(slot, number)) return;
      std::memcpy(slot.page->data(), together_.get() + (number - first) * kPageBytes, kPageBytes);
      slot.there = true;
    }
  }
}

bool PageCache::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  if (bytes == 0) return true;
  if (address + bytes - 1 < address) return false;
  if (bytes > kMaxCachedBytes) return memory_.read(address, into, bytes);
  read_together(address / kPageBytes, (address + bytes - 1) / kPageBytes);
  auto* out = static_cast<std::byte*>(into);
  while (bytes != 0) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t part = std::min(bytes, kPageBytes - offset);
    if (const Page* whole = page(address / kPageBytes)) {
      std::memcpy(out, whole->data() + offset, part);
    } else if (!memory_.read(address, out, part)) {
      // A dump may contain only a part of a page.
      return false;
    }
    address += part;
    out += part;
    bytes -= part;
  }
  return true;
}

std::size_t PageCache::read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  if (bytes > kMaxCachedBytes) return memory_.read_up_to(address, into, bytes);
  if (bytes != 0 && address + bytes - 1 >= address) {
    read_together(address / kPageBytes, (address + bytes - 1) / kPageBytes);
  }
  auto* const out = static_cast<std::byte*>(into);
  std::size_t done = 0;
  while (done < bytes) {
    const std::uint64_t at = address + done;
    const std::size_t offset = at % kPageBytes;
    const std::size_t part = std::min(bytes - done, kPageBytes - offset);
    if (const Page* whole = page(at / kPageBytes)) {
      std::memcpy(out + done, whole->data() + offset, part);
      done += part;
      continue;
    }
    const std::size_t read = memory_.read_up_to(at, out + done, part);
    done += read;
    if (read < part) break;
  }
  return done;
}

void PageCache::drop() noexcept {
  for (Slot& slot : slots_) slot.number = kNoPage;
}

}  // namespace mixwalk
