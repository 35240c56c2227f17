#include "walker/clr/contracts/il_bounds.h"

#include <algorithm>

#include "walker/clr/contracts/nibble_reader.h"

namespace mixwalk {
namespace {

// IL offsets are stored with this added, so that the special values become small numbers.
constexpr std::uint32_t kIlBias = 0u - IlToNative::kSpecial;
// The size of the map if two maps follow, of .NET 10.
constexpr std::uint32_t kTwoMaps = 0xFFFFFFFF;
// The size of the map if the header has the sizes of all parts, later than .NET 10.
constexpr std::uint32_t kFat = 0;

// Reads fields of some bits from bytes, the lowest bits of each byte first.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size() * 8 - at_; }
  // The caller checks that there are so many bits.
  std::uint32_t bits(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned taken = 0; taken < count;) {
      const unsigned from = at_ % 8, some = std::min(8 - from, count - taken);
      const std::uint64_t byte = static_cast<std::uint64_t>(bytes_[at_ / 8]) >> from & ((1u << some) - 1);
      value |= byte << taken;
      taken += some;
      at_ += some;
    }
    return static_cast<std::uint32_t>(value);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

// Adds an entry, which also ends the one before it. Returns false if it is not inside the code.
bool add_entry(std::vector<IlToNative>& map, std::uint32_t delta, std::uint32_t il, std::uint64_t code_bytes) {
  const std::uint64_t begin = (map.empty() ? 0u : map.back().native_begin) + std::uint64_t{delta};
  if (begin > code_bytes || begin > UINT32_MAX) return false;
  if (!map.empty()) map.back().native_end = static_cast<std::uint32_t>(begin);
  map.push_back({il - kIlBias, static_cast<std::uint32_t>(begin), UINT32_MAX});
  return true;
}

bool read_nibbles(NibbleReader& reader, std::uint32_t count, std::uint64_t code_bytes, std::vector<IlToNative>& map) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t delta = reader.number(), il = reader.number();
    reader.number();  // the kind of the place
    if (reader.failed() || !add_entry(map, delta, il, code_bytes)) return false;
  }
  return true;
}

}  // namespace

std::optional<IlBoundsPlace> find_il_bounds(std::span<const std::byte> header, IlBoundsForm form) noexcept {
  NibbleReader reader(header);
  std::uint32_t bounds = reader.number(), variables = 0, original = 0;
  if (form == IlBoundsForm::packed && bounds == kTwoMaps) {
    bounds = reader.number();
    original = reader.number();
    reader.number();  // the variables, after both maps
  } else if (form == IlBoundsForm::packed_fat && bounds == kFat) {
    bounds = reader.number();
    variables = reader.number();
    original = reader.number();
    for (int part = 0; part < 3; ++part) reader.number();  // patchpoints, inlined calls, asynchronous calls
  } else {
    reader.number();  // the variables
  }
  if (reader.failed()) return std::nullopt;
  const std::uint64_t skipped = original != 0 ? std::uint64_t{bounds} + variables : 0;
  const std::uint64_t offset = reader.next_byte() + skipped;
  if (offset > UINT32_MAX) return std::nullopt;
  return IlBoundsPlace{static_cast<std::uint32_t>(offset), original != 0 ? original : bounds};
}

std::optional<std::vector<IlToNative>> read_il_bounds(std::span<const std::byte> bytes, IlBoundsForm form,
                                                      std::uint64_t code_bytes) {
  NibbleReader reader(bytes);
  const std::uint32_t count = reader.number();
  std::vector<IlToNative> map;
  if (form == IlBoundsForm::nibbles) {
    if (reader.failed() || !read_nibbles(reader, count, code_bytes, map)) return std::nullopt;
    return map;
  }
  constexpr unsigned kMaxField = 32;
  const std::uint32_t delta_bits = reader.number() + 1, il_bits = reader.number() + 1;
  if (reader.failed() || delta_bits > kMaxField || il_bits > kMaxField) return std::nullopt;
  const unsigned kind_bits = form == IlBoundsForm::packed ? 2 : 3;
  BitReader fields(bytes.subspan(reader.next_byte()));
  const unsigned entry_bits = kind_bits + delta_bits + il_bits;
  if (count > fields.left() / entry_bits) return std::nullopt;
  map.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    fields.bits(kind_bits);
    const std::uint32_t delta = fields.bits(delta_bits);
    if (!add_entry(map, delta, fields.bits(il_bits), code_bytes)) return std::nullopt;
  }
  return map;
}

}  // namespace mixwalk
