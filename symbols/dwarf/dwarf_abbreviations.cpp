#include "symbols/dwarf/dwarf_abbreviations.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImplicitConst = 0x21;  // DW_FORM_implicit_const: its value is in the table

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  bool ok() const noexcept { return ok_; }
  std::size_t position() const noexcept { return at_; }
  unsigned byte() noexcept {
    if (at_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<unsigned>(bytes_[at_++]);
  }
  // If a LEB128 number does not fit, only its low bits are kept. No code compares such a number.
  std::uint64_t leb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const unsigned next = byte();
      if (shift < 64) value |= std::uint64_t{next & 0x7F} << shift;
      if (next < 0x80) break;
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

DwarfAbbreviations::Table DwarfAbbreviations::scan(std::uint64_t offset) const noexcept {
  if (offset >= section_.size()) return {};
  Reader reader(section_.subspan(static_cast<std::size_t>(offset)));
  // A table that is cut off by the section's end is left to libdwarf.
  while (reader.ok() && reader.leb() != 0) {
    reader.leb();   // the tag
    reader.byte();  // whether there are children
    for (std::size_t attributes = 0; reader.ok(); ++attributes) {
      if (attributes > kMaxAttributes) return {reader.position(), false};
      const std::uint64_t attribute = reader.leb(), form = reader.leb();
      if (attribute == 0 && form == 0) break;
      if (form == kImplicitConst) reader.leb();
    }
  }
  return {reader.position(), true};
}

bool DwarfAbbreviations::allow(std::uint64_t offset) {
  if (bytes_ > kMaxBytes) return false;
  const auto [at, fresh] = tables_.try_emplace(offset);
  if (fresh) at->second = scan(offset);
  bytes_ += at->second.bytes;
  return at->second.sane && bytes_ <= kMaxBytes;
}

}  // namespace mixwalk
