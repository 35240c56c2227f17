#include "symbols/portable_pdb/assembly_mvid.h"

#include <cstdint>

#include "symbols/byte_cursor.h"
#include "symbols/metadata/metadata_names.h"
#include "unmanaged/image/data_directory.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

constexpr unsigned kCliHeader = 14;  // IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR
constexpr std::size_t kMetadataInCliHeader = 8;

}  // namespace

std::optional<std::array<std::byte, 16>> assembly_mvid(std::span<const std::byte> image) {
  ByteCursor cli(data_directory(image, kCliHeader));
  cli.skip(kMetadataInCliHeader);
  const std::uint32_t rva = cli.u32();
  const std::uint32_t bytes = cli.u32();
  if (cli.failed()) return std::nullopt;
  const ByteMemory metadata(bytes_at_rva(image, rva, bytes));
  const auto streams = read_metadata_root(metadata, 0, bytes);
  auto tables = streams ? MetadataTables::open(metadata, *streams) : std::nullopt;
  return tables ? MetadataNames(std::move(*tables)).mvid() : std::nullopt;
}

}  // namespace mixwalk
