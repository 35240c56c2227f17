#include "symbols/portable_pdb/assembly_mvid.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "symbols/byte_cursor.h"
#include "symbols/metadata/metadata_names.h"
#include "unmanaged/image/data_directory.h"
#include "unmanaged/step/memory_reader.h"

namespace mixwalk {
namespace {

constexpr unsigned kCliHeader = 14;  // IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR
constexpr std::size_t kMetadataInCliHeader = 8;
constexpr std::size_t kPartBytes = 4096;  // all headers of an image, or all headers of the metadata

// A part of a file as memory that begins at address 0. Reads again only what it does not have. Not frozen-safe.
class PartMemory final : public MemoryReader {
 public:
  PartMemory(const ReadFilePart& read, FileRange of) : read_(read), of_(of) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return read_up_to(address, into, bytes) == bytes;
  }
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address >= of_.bytes) return 0;
    bytes = std::min<std::size_t>(bytes, static_cast<std::size_t>(of_.bytes - address));
    if (address < begin_ || address - begin_ > part_.size() || bytes > part_.size() - (address - begin_)) {
      begin_ = address;
      part_ = read_(of_.offset + address, std::max(bytes, kPartBytes));
      bytes = std::min(bytes, part_.size());
    }
    if (bytes != 0) std::memcpy(into, part_.data() + (address - begin_), bytes);
    return bytes;
  }

 private:
  const ReadFilePart& read_;
  FileRange of_;
  mutable std::uint64_t begin_ = 0;
  mutable std::vector<std::byte> part_;
};

}  // namespace

std::optional<std::array<std::byte, 16>> assembly_mvid(const ReadFilePart& read) {
  const std::vector<std::byte> headers = read(0, kPartBytes);
  const FileRange place = place_of_directory(headers, kCliHeader);
  const std::vector<std::byte> header = read(place.offset, std::min<std::size_t>(place.bytes, kPartBytes));
  ByteCursor cli(header);
  cli.skip(kMetadataInCliHeader);
  const std::uint32_t rva = cli.u32();
  const std::uint32_t bytes = cli.u32();
  if (cli.failed()) return std::nullopt;
  const PartMemory metadata(read, place_of_rva(headers, rva, bytes));
  const auto streams = read_metadata_root(metadata, 0, bytes);
  auto tables = streams ? MetadataTables::open(metadata, *streams) : std::nullopt;
  return tables ? MetadataNames(std::move(*tables)).mvid() : std::nullopt;
}

std::optional<std::array<std::byte, 16>> assembly_mvid(std::span<const std::byte> image) {
  return assembly_mvid(ReadFilePart([image](std::uint64_t offset, std::size_t bytes) {
    if (offset > image.size()) return std::vector<std::byte>();
    const auto part = image.subspan(offset, std::min<std::size_t>(bytes, image.size() - offset));
    return std::vector<std::byte>(part.begin(), part.end());
  }));
}

}  // namespace mixwalk
