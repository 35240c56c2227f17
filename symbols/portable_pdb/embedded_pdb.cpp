#include "symbols/portable_pdb/embedded_pdb.h"

#include <zlib.h>

#include <algorithm>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kSignature = 0x4244504D;  // "MPDB"
constexpr std::uint32_t kMaxBytes = 256u << 20;   // the largest portable PDBs in the wild have some 30 MiB
// Deflate cannot expand data by more than this factor.
constexpr std::uint64_t kMaxRatio = 1032;

bool is_embedded_pdb(const DebugEntry& entry) { return entry.type == DebugEntry::kEmbeddedPortablePdb; }

bool unpack(std::span<const std::byte> packed, std::vector<std::byte>& into) {
  z_stream stream{};
  constexpr int kRawDeflate = -15;
  if (inflateInit2(&stream, kRawDeflate) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.total_out == into.size();
  inflateEnd(&stream);
  return whole;
}

}  // namespace

bool has_embedded_pdb(std::span<const DebugEntry> entries) noexcept {
  return std::any_of(entries.begin(), entries.end(), is_embedded_pdb);
}

std::optional<std::vector<std::byte>> embedded_pdb(std::span<const DebugEntry> entries) {
  const auto entry = std::find_if(entries.begin(), entries.end(), is_embedded_pdb);
  if (entry == entries.end()) return std::nullopt;
  ByteCursor cursor(entry->data);
  const std::uint32_t signature = cursor.u32();
  const std::uint32_t bytes = cursor.u32();
  const auto packed = cursor.rest();
  if (cursor.failed() || signature != kSignature || bytes > kMaxBytes || packed.size() > kMaxBytes ||
      bytes > packed.size() * kMaxRatio) {
    return std::nullopt;
  }
  std::vector<std::byte> unpacked(bytes);
  if (!unpack(packed, unpacked)) return std::nullopt;
  return unpacked;
}

}  // namespace mixwalk
