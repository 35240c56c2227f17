#include "symbols/metadata/metadata_root.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kSignature = 0x424A5342;  // "BSJB"
constexpr std::uint16_t kMaxStreams = 64;         // there are six
// The limit for the root's own bytes: the version has at most 255, and each stream at most 40.
constexpr std::size_t kMaxRootBytes = 4096;

}  // namespace

std::optional<MetadataStreams> read_metadata_root(const MemoryReader& memory, std::uint64_t address,
                                                  std::uint64_t bytes) {
  std::array<std::byte, kMaxRootBytes> root;
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, root.size()));
  ByteCursor cursor{std::span(root).first(memory.read_up_to(address, root.data(), most))};
  if (cursor.u32() != kSignature) return std::nullopt;
  cursor.skip(2 + 2 + 4);     // version, reserved
  cursor.skip(cursor.u32());  // the version as text
  cursor.skip(2);             // flags
  const std::uint16_t count = cursor.u16();
  if (cursor.failed() || count > kMaxStreams) return std::nullopt;
  MetadataStreams streams;
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint32_t offset = cursor.u32();
    const std::uint32_t length = cursor.u32();
    const std::string_view name = cursor.text();
    cursor.align(4);
    if (cursor.failed()) return std::nullopt;
    if (offset > bytes || length > bytes - offset) continue;
    const MetadataStream stream{address + offset, length};
    if (name == "#Pdb") streams.pdb = stream;
    if (name == "#~" || name == "#-") streams.tables = stream;
    if (name == "#Strings") streams.strings = stream;
    if (name == "#Blob") streams.blobs = stream;
    if (name == "#GUID") streams.guids = stream;
  }
  return streams;
}

}  // namespace mixwalk
