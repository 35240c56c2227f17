#include "symbols/native_aot/invoke_map.h"

#include <algorithm>
#include <unordered_map>

#include "symbols/byte_cursor.h"
#include "symbols/native_aot/native_metadata.h"

namespace mixwalk {
namespace {

// Flags of a method (InvokeTableFlags).
constexpr std::uint32_t kHasCode = 0x20;

// Reads the numbers of one entry, one after the other.
class InvokeEntry {
 public:
  InvokeEntry(std::span<const std::byte> table, std::size_t at) : table_(table), at_(at) {}
  // Returns 0 if the table ends before.
  std::uint32_t number() {
    const auto value = NativeMetadata::read_number(table_, at_);
    failed_ |= !value;
    return value.value_or(0);
  }
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> table_;
  std::size_t at_;
  bool failed_ = false;
};

// The limit for the entries of one table, of which a program of some 100 MB has 200,000.
constexpr std::size_t kMaxEntries = 1 << 22;

// Visits the entries of a hash table: a byte (how many buckets, and how long their offsets are), the offsets, and
// for each entry the lowest byte of its hash and the distance to it.
template <class Visit>
void for_each_entry(std::span<const std::byte> table, bool& damaged, Visit visit) {
  if (table.empty()) return;
  constexpr std::size_t kHeader = 1;
  const auto header = std::to_integer<std::uint8_t>(table[0]);
  const unsigned shift = header >> 2, offset_bytes = 1u << (header & 3);
  // Returns a place beyond the table if the offset is not in the table.
  const auto bucket_at = [&](std::size_t bucket) {
    ByteCursor cursor(table.subspan(std::min(table.size(), kHeader + bucket * offset_bytes)));
    const std::size_t offset = offset_bytes == 1 ? cursor.u8() : offset_bytes == 2 ? cursor.u16() : cursor.u32();
    return cursor.failed() ? table.size() + 1 : kHeader + offset;
  };
  const std::size_t end = bucket_at(std::size_t{1} << shift);
  if (offset_bytes > 4 || shift > 31 || end > table.size()) {
    damaged = true;
    return;
  }
  std::size_t entries = 0;
  for (std::size_t at = bucket_at(0); at < end;) {
    const std::size_t place = ++at;
    const auto value = NativeMetadata::read_number(table, at);
    if (!value || ++entries > kMaxEntries) {
      damaged = true;
      return;
    }
    // A number of n bytes has 7 n bits, one of 5 bytes has 32; the highest one is its sign.
    const std::size_t bits = at - place > 4 ? 32 : 7 * (at - place);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    const auto distance = static_cast<std::int64_t>((*value ^ sign) - sign);
    InvokeEntry entry(table, static_cast<std::size_t>(static_cast<std::int64_t>(place) + distance));
    visit(entry);
  }
}

}  // namespace

std::vector<InvokeMap::Row> InvokeMap::rows(bool& damaged) const {
  std::unordered_map<std::uint32_t, std::uint32_t> type_of;  // the number of a reference → a handle
  for_each_entry(types, damaged, [&](InvokeEntry& entry) {
    const std::uint32_t reference = entry.number(), handle = entry.number();
    damaged |= entry.failed();
    if (!entry.failed()) type_of[reference] = handle;
  });
  std::vector<Row> rows;
  for_each_entry(methods, damaged, [&](InvokeEntry& entry) {
    const std::uint32_t flags = entry.number();
    Row row{.method = entry.number()};
    if (const auto type = type_of.find(entry.number()); type != type_of.end()) row.type = type->second;
    const bool has_code = (flags & kHasCode) != 0;
    const std::size_t place = has_code ? std::size_t{4} * entry.number() : 0;
    ByteCursor cursor(references.subspan(std::min(place, references.size())));
    row.rva = references_rva + static_cast<std::uint32_t>(place) + cursor.u32();
    const bool failed = entry.failed() || (has_code && cursor.failed());
    damaged |= failed;
    if (has_code && !failed) rows.push_back(row);
  });
  return rows;
}

}  // namespace mixwalk
