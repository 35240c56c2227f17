#include "symbols/metadata/image_metadata.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

constexpr std::size_t kHeaderBytes = 4096;  // the headers of an assembly have some hundred
constexpr unsigned kCliHeader = 14;         // IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR
constexpr std::uint32_t kCliBytes = 72;     // ECMA-335 II.25.3.3
constexpr std::uint64_t kMetadataInCliHeader = 8;

struct Place {
  std::uint32_t rva = 0, bytes = 0;
};

// Where the metadata is, by the CLI header at that address. Returns nothing if there is no CLI header.
std::optional<Place> metadata_by(const MemoryReader& memory, std::uint64_t cli_header) {
  if (memory.read_value<std::uint32_t>(cli_header) != kCliBytes) return std::nullopt;
  return memory.read_value<Place>(cli_header + kMetadataInCliHeader);
}

}  // namespace

std::optional<MetadataTables> metadata_at(const MemoryReader& memory, std::uint64_t address, std::uint64_t bytes) {
  const auto streams = read_metadata_root(memory, address, bytes);
  return streams ? MetadataTables::open(memory, *streams) : std::nullopt;
}

std::optional<MetadataTables> metadata_of_image(const MemoryReader& memory, std::uint64_t base) {
  std::array<std::byte, kHeaderBytes> bytes;
  const auto headers = std::span(bytes).first(memory.read_up_to(base, bytes.data(), bytes.size()));
  const DirectoryRva cli = rva_of_directory(headers, kCliHeader);
  if (cli.bytes == 0) return std::nullopt;
  if (const auto place = metadata_by(memory, base + cli.rva)) {
    if (auto tables = metadata_at(memory, base + place->rva, place->bytes)) return tables;
  }
  const FileRange in_file = place_of_rva(headers, cli.rva, cli.bytes);
  const auto place = in_file.bytes != 0 ? metadata_by(memory, base + in_file.offset) : std::nullopt;
  if (!place) return std::nullopt;
  const FileRange metadata = place_of_rva(headers, place->rva, place->bytes);
  return metadata.bytes != 0 ? metadata_at(memory, base + metadata.offset, metadata.bytes) : std::nullopt;
}

std::optional<PortablePdbId> portable_pdb_of_image(const MemoryReader& memory, std::uint64_t base) {
  const ReadFilePart read = [&](std::uint64_t offset, std::size_t bytes) {
    std::vector<std::byte> part(bytes);
    part.resize(memory.read_up_to(base + offset, part.data(), part.size()));
    return part;
  };
  // Taken for the other layout, an image has other bytes there, and no record of a PDB.
  for (const ImageLayout layout : {ImageLayout::loaded, ImageLayout::file}) {
    auto id = read_image_file_id(read, layout);
    if (id && id->portable) return PortablePdbId{std::move(*id->portable), std::move(id->checksums)};
  }
  return std::nullopt;
}

}  // namespace mixwalk
