#include "walker/target/page_cache.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mixwalk {
namespace {

// Larger reads are stacks and whole images, which would only displace the small pages.
constexpr std::size_t kMaxCachedBytes = 16 * PageCache::kPageBytes;

}  // namespace

const PageCache::Page* PageCache::page(std::uint64_t number) const noexcept {
  constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;  // Fibonacci hashing
  Slot& slot = slots_[(number * kGolden >> 32) % slots_.size()];
  if (slot.number == number) return slot.there ? slot.page.get() : nullptr;
  if (slot.page == nullptr) slot.page.reset(new (std::nothrow) Page);
  if (slot.page == nullptr) return nullptr;
  ++pages_read_;
  slot.number = number;
  slot.there = memory_.read(number * kPageBytes, slot.page->data(), kPageBytes);
  return slot.there ? slot.page.get() : nullptr;
}

bool PageCache::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  if (bytes == 0) return true;
  if (address + bytes - 1 < address) return false;
  if (bytes > kMaxCachedBytes) return memory_.read(address, into, bytes);
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
