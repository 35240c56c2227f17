#include "unmanaged/image/relocations.h"

#include <algorithm>
#include <cstring>

#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

// A block has the RVA of its page, its own size, and entries of 16 bits: a type, and an offset in the page.
constexpr std::uint64_t kBlockBytes = 8, kEntryBytes = 2;
constexpr unsigned kTypeShift = 12, kDir64 = 10;  // IMAGE_REL_BASED_DIR64

void add(std::span<std::byte> file, std::span<const std::byte> place, std::uint64_t difference) {
  std::uint64_t address = 0;
  std::memcpy(&address, place.data(), sizeof address);
  address += difference;
  std::memcpy(file.data() + (place.data() - file.data()), &address, sizeof address);
}

}  // namespace

void relocate(std::span<std::byte> file, const PeImage& image, const ImageHeaders::Directory& table,
              std::uint64_t base) noexcept {
  const std::uint64_t difference = base - image.preferred_base();
  const auto bytes = image.bytes_at(table.rva, table.bytes);
  if (difference == 0 || !bytes) return;
  FileReader reader(*bytes);
  for (std::uint64_t at = 0; at + kBlockBytes <= bytes->size();) {
    const auto page = reader.at<std::uint32_t>(at), block_bytes = reader.at<std::uint32_t>(at + 4);
    if (block_bytes < kBlockBytes) return;
    const std::uint64_t end = std::min<std::uint64_t>(at + block_bytes, bytes->size());
    for (std::uint64_t entry_at = at + kBlockBytes; entry_at + kEntryBytes <= end; entry_at += kEntryBytes) {
      const auto entry = reader.at<std::uint16_t>(entry_at);
      if (entry >> kTypeShift != kDir64) continue;
      const std::uint32_t rva = page + (entry & ((1u << kTypeShift) - 1));
      if (const auto place = image.bytes_at(rva, sizeof(std::uint64_t))) add(file, *place, difference);
    }
    at = end;
  }
}

}  // namespace mixwalk
