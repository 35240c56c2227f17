#include "symbols/portable_pdb/metadata_streams.h"

#include <string_view>

namespace mixwalk {
namespace {

constexpr std::uint32_t kSignature = 0x424A5342;  // "BSJB"
constexpr std::uint16_t kMaxStreams = 64;         // there are six

struct Compressed {
  std::uint32_t value = 0;
  unsigned bits = 0;
};

// Reads a number of one, two or four bytes, as the first bits say.
Compressed read(ByteCursor& cursor) noexcept {
  const std::uint32_t first = cursor.u8();
  if ((first & 0x80) == 0) return {first, 7};
  const std::uint32_t second = cursor.u8();
  if ((first & 0xC0) == 0x80) return {(first & 0x3F) << 8 | second, 14};
  if ((first & 0xE0) != 0xC0) cursor.fail();
  const std::uint32_t third = cursor.u8();
  return {(first & 0x1F) << 24 | second << 16 | third << 8 | cursor.u8(), 29};
}

}  // namespace

std::uint32_t read_compressed(ByteCursor& cursor) noexcept { return read(cursor).value; }

// The lowest bit is the sign, and the rest is in two's complement.
std::int32_t read_compressed_signed(ByteCursor& cursor) noexcept {
  const Compressed number = read(cursor);
  const auto rest = static_cast<std::int32_t>(number.value >> 1);
  return (number.value & 1) == 0 ? rest : rest - static_cast<std::int32_t>(1u << (number.bits - 1));
}

std::optional<std::span<const std::byte>> MetadataStreams::blob(std::uint32_t index) const noexcept {
  if (index >= blobs.size()) return std::nullopt;
  ByteCursor cursor(blobs.subspan(index));
  const auto bytes = cursor.take(read_compressed(cursor));
  if (cursor.failed()) return std::nullopt;
  return bytes;
}

std::optional<MetadataStreams> read_metadata_streams(std::span<const std::byte> file) {
  ByteCursor cursor(file);
  if (cursor.u32() != kSignature) return std::nullopt;
  cursor.skip(2 + 2 + 4);  // version, reserved
  cursor.skip(cursor.u32());  // the version as text
  cursor.skip(2);             // flags
  const std::uint16_t count = cursor.u16();
  if (cursor.failed() || count > kMaxStreams) return std::nullopt;
  MetadataStreams streams;
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint32_t offset = cursor.u32();
    const std::uint32_t bytes = cursor.u32();
    const std::string_view name = cursor.text();
    cursor.align(4);
    if (cursor.failed()) return std::nullopt;
    if (offset > file.size() || bytes > file.size() - offset) continue;
    const auto stream = file.subspan(offset, bytes);
    if (name == "#Pdb") streams.pdb = stream;
    if (name == "#~") streams.tables = stream;
    if (name == "#Blob") streams.blobs = stream;
    if (name == "#GUID") streams.guids = stream;
  }
  return streams;
}

}  // namespace mixwalk
