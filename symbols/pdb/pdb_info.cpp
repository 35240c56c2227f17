#include "symbols/pdb/pdb_info.h"

#include <algorithm>

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kInfoStream = 1;
// The limit for named streams. Real files have some ten, and one for each source file that is embedded.
constexpr std::uint32_t kMaxNamed = 65'536;
constexpr std::size_t kMaxStreamName = 1024, kMaxText = 4096;  // bytes; names and paths may share theirs
constexpr std::uint32_t kStringsSignature = 0xEFFEEFFE;
constexpr std::uint32_t kMinimalDebugInfo = 0x494E494D;  // "MINI"

// Skips the set bits of one of the hash table's bit vectors; only its length matters here.
std::uint32_t skip_bits(ByteCursor& cursor) {
  const std::uint32_t words = cursor.u32();
  std::uint32_t set = 0;
  for (std::uint32_t i = 0; i < words && !cursor.failed(); ++i) {
    set += static_cast<std::uint32_t>(__builtin_popcount(cursor.u32()));
  }
  return set;
}

// Reads a hash table. Its entries follow its bit vectors without gaps, so no hash is needed to read them all.
void read_named(ByteCursor& cursor, PdbInfo& info) {
  const auto texts = cursor.take(cursor.u32());
  const std::uint32_t count = cursor.u32();
  cursor.u32();  // capacity
  skip_bits(cursor);
  skip_bits(cursor);
  for (std::uint32_t i = 0; i < std::min(count, kMaxNamed) && !cursor.failed(); ++i) {
    const std::uint32_t name = cursor.u32();
    const std::uint32_t stream = cursor.u32();
    if (cursor.failed() || name >= texts.size()) continue;
    const auto rest = texts.subspan(name);
    ByteCursor text(rest.first(std::min(rest.size(), kMaxStreamName)));
    const std::string_view found = text.text();
    if (!text.failed()) info.named_streams.emplace(found, stream);
  }
}

}  // namespace

std::uint32_t PdbInfo::stream(std::string_view name) const {
  const auto found = named_streams.find(name);
  return found == named_streams.end() ? MsfFile::kNoStream : found->second;
}

std::optional<PdbInfo> read_pdb_info(const MsfFile& msf) {
  const MsfBytes stream = msf.read(kInfoStream);
  ByteCursor cursor(stream.get());
  cursor.skip(8);  // version, time
  PdbInfo info;
  info.age = cursor.u32();
  const auto guid = cursor.take(info.guid.size());
  if (cursor.failed()) return std::nullopt;
  std::copy(guid.begin(), guid.end(), info.guid.begin());
  read_named(cursor, info);
  // The marks of the linker's features follow.
  while (cursor.left() >= 4) info.fast_link = cursor.u32() == kMinimalDebugInfo || info.fast_link;
  return info;
}

PdbStrings::PdbStrings(const MsfFile& msf, const PdbInfo& info)
    : stream_(msf.read(info.stream("/names"))) {
  ByteCursor cursor(stream_.get());
  const std::uint32_t signature = cursor.u32();
  cursor.skip(4);  // how the texts are hashed
  const std::uint32_t bytes = cursor.u32();
  if (signature == kStringsSignature) texts_ = cursor.take(bytes);
}

std::string_view PdbStrings::at(std::uint32_t offset) const noexcept {
  if (offset >= texts_.size()) return {};
  const auto rest = texts_.subspan(offset);
  return ByteCursor(rest.first(std::min(rest.size(), kMaxText))).text();
}

}  // namespace mixwalk
