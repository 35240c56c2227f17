#include "unmanaged/minidump/dump_memory.h"

#include <algorithm>
#include <cstring>

#include "unmanaged/step/page_kind.h"

namespace mixwalk {
namespace {

// Returns the piece that contains the address, or null if there is none. The pieces are sorted and disjoint.
template <class Piece>
const Piece* piece_with(std::span<const Piece> pieces, std::uint64_t address) noexcept {
  const auto after = std::upper_bound(
      pieces.begin(), pieces.end(), address,
      [](std::uint64_t value, const Piece& piece) { return value < piece.begin; });
  if (after == pieces.begin()) return nullptr;
  const Piece& candidate = *(after - 1);
  return address - candidate.begin < candidate.bytes ? &candidate : nullptr;
}

}  // namespace

std::span<const std::byte> DumpMemory::bytes_at(std::uint64_t address) const noexcept {
  const MinidumpRange* range = last_ < ranges_.size() ? &ranges_[last_] : nullptr;
  if (range == nullptr || address - range->begin >= range->bytes) {
    range = piece_with(ranges_, address);
    if (range == nullptr) return {};
    last_ = static_cast<std::size_t>(range - ranges_.data());
  }
  const std::uint64_t at = address - range->begin;
  // The reader of the dump has checked that the range lies inside the file.
  return file_.subspan(static_cast<std::size_t>(range->offset + at), static_cast<std::size_t>(range->bytes - at));
}

std::size_t DumpMemory::read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const auto there = bytes_at(address + done);
    if (there.empty()) break;
    const std::size_t step = std::min(there.size(), bytes - done);
    auto* const to = static_cast<std::byte*>(into) + done;
    if (mapped_ != nullptr) {
      mapped_->read(static_cast<std::uint64_t>(there.data() - file_.data()), to, step);
    } else {
      std::memcpy(to, there.data(), step);
    }
    done += step;
    if (address + done < address) break;  // the address space ends here
  }
  return done;
}

bool DumpMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  return read_up_to(address, into, bytes) == bytes;
}

MemoryKind DumpOutsideMemory::kind(std::uint64_t address) noexcept {
  const bool there = !memory_.bytes_at(address).empty();
  if (regions_.empty()) return there ? MemoryKind::code : MemoryKind::nothing;
  const MinidumpRegion* const region = piece_with(regions_, address);
  if (region == nullptr || !there) return MemoryKind::nothing;
  return kind_of_pages(region->state, region->protection);
}

bool DumpOutsideMemory::is_image(std::uint64_t address) noexcept {
  constexpr std::uint32_t kImage = 0x100'0000;  // MEM_IMAGE
  const MinidumpRegion* const region = piece_with(regions_, address);
  return region != nullptr && region->type == kImage;
}

}  // namespace mixwalk
