#include "symbols/portable_pdb/embedded_pdb.h"

#include <algorithm>

#include "symbols/byte_cursor.h"
#include "symbols/inflated.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kSignature = 0x4244504D;  // "MPDB"
constexpr std::uint32_t kMaxBytes = 256u << 20;   // the largest portable PDBs in the wild have some 30 MiB
bool is_embedded_pdb(const DebugEntry& entry) { return entry.type == DebugEntry::kEmbeddedPortablePdb; }

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
      bytes > packed.size() * kMaxInflation) {
    return std::nullopt;
  }
  std::vector<std::byte> unpacked(bytes);
  if (!inflate_into(packed, Deflated::raw, unpacked)) return std::nullopt;
  return unpacked;
}

}  // namespace mixwalk
