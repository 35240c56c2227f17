#include "symbols/portable_pdb/assembly_mvid.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "symbols/portable_pdb/metadata_streams.h"
#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

constexpr unsigned kCliHeader = 14;  // IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR
constexpr std::size_t kMetadataInCliHeader = 8;
constexpr std::uint8_t kWideStrings = 1, kWideGuids = 2;  // HeapSizes
constexpr std::size_t kGuidBytes = 16;

}  // namespace

std::optional<std::array<std::byte, 16>> assembly_mvid(std::span<const std::byte> image) {
  ByteCursor cli(data_directory(image, kCliHeader));
  cli.skip(kMetadataInCliHeader);
  const std::uint32_t rva = cli.u32();
  const std::uint32_t bytes = cli.u32();
  if (cli.failed()) return std::nullopt;
  const auto streams = read_metadata_streams(bytes_at_rva(image, rva, bytes));
  if (!streams) return std::nullopt;
  // The row of the Module table is the first of all tables: Generation, Name, Mvid.
  ByteCursor tables(streams->tables);
  tables.skip(4 + 1 + 1);  // reserved, version
  const std::uint8_t heap_sizes = tables.u8();
  tables.skip(1);
  const auto valid = tables.read<std::uint64_t>();
  tables.skip(8);  // the mask of sorted tables
  if ((valid & 1) == 0) return std::nullopt;
  const std::uint32_t modules = tables.u32();
  tables.skip(4 * static_cast<std::size_t>(std::popcount(valid) - 1));
  tables.skip(2 + ((heap_sizes & kWideStrings) != 0 ? 4 : 2));
  const std::uint32_t index = (heap_sizes & kWideGuids) != 0 ? tables.u32() : tables.u16();
  if (tables.failed() || modules == 0 || index == 0) return std::nullopt;
  ByteCursor guids(streams->guids);
  guids.skip(std::size_t{index - 1} * kGuidBytes);
  const auto guid = guids.take(kGuidBytes);
  if (guids.failed()) return std::nullopt;
  std::array<std::byte, kGuidBytes> mvid;
  std::copy(guid.begin(), guid.end(), mvid.begin());
  return mvid;
}

}  // namespace mixwalk
