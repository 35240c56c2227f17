#include "unmanaged/image/coff_symbols.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace mixwalk {
namespace {

constexpr std::uint8_t kExternal = 2, kStatic = 3;  // IMAGE_SYM_CLASS_…
constexpr std::uint16_t kFunction = 0x20;           // the complex type IMAGE_SYM_DTYPE_FUNCTION

// Offsets of a record's fields.
constexpr std::size_t kNameOffset = 4, kValue = 8, kSection = 12, kType = 14, kClass = 16, kAuxiliary = 17;

template <class T>
T field(std::span<const std::byte> record, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

struct Candidate {
  std::uint32_t rva;
  bool no_function, is_static;
  std::string_view name;

  auto rank() const { return std::tuple(rva, no_function, is_static, name.size(), name); }
};

}  // namespace

CoffSymbols::CoffSymbols(const CoffFile& file) {
  const auto records = file.symbol_records();
  const std::size_t count = std::min(records.size() / CoffFile::kSymbolBytes, kMaxSymbols);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    const auto record = records.subspan(i * CoffFile::kSymbolBytes, CoffFile::kSymbolBytes);
    i += field<std::uint8_t>(record, kAuxiliary);  // skips the records that only add to this one
    const auto kind = field<std::uint8_t>(record, kClass);
    const auto number = field<std::int16_t>(record, kSection);  // 0 and below: absolute, undefined, a file
    if ((kind != kExternal && kind != kStatic) || number <= 0) continue;
    if (static_cast<std::size_t>(number) > file.sections().size()) continue;
    const CoffSection& section = file.sections()[static_cast<std::size_t>(number) - 1];
    const auto value = field<std::uint32_t>(record, kValue);
    if (!section.executable || value >= section.bytes || value > UINT32_MAX - section.rva) continue;
    // A name of up to eight characters is in the record itself. For a longer name, the record has zero and the name's
    // offset.
    std::string_view name = field<std::uint32_t>(record, 0) == 0
                                ? file.long_name(field<std::uint32_t>(record, kNameOffset))
                                : text_before_zero(record.first(kValue));
    // A section's own symbol does not name a function. But gcc puts functions into sections of their own and names
    // these sections after the functions. If local symbols were dropped (strip -x, as in Debian's libstdc++.a), the
    // section's name is all that is left of a static function's name.
    const bool of_section = name.starts_with(".text");
    if (of_section) name = name.starts_with(".text$_Z") ? name.substr(6) : std::string_view();
    if (name.empty()) continue;
    candidates.push_back({section.rva + value, of_section || field<std::uint16_t>(record, kType) != kFunction,
                          of_section || kind == kStatic, name});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& left, const Candidate& right) {
    return left.rank() < right.rank();
  });
  for (const Candidate& candidate : candidates) {
    if (starts_.empty() || starts_.back().rva != candidate.rva) {
      starts_.push_back({candidate.rva, candidate.name, !candidate.no_function});
    }
  }
  starts_.shrink_to_fit();
}

std::string_view CoffSymbols::name_at(std::uint32_t rva) const noexcept {
  const auto found = std::lower_bound(
      starts_.begin(), starts_.end(), rva,
      [](const Start& start, std::uint32_t value) { return start.rva < value; });
  return found != starts_.end() && found->rva == rva ? found->name : std::string_view();
}

const CoffSymbols::Start* CoffSymbols::function_before(std::uint32_t rva) const noexcept {
  auto at = std::upper_bound(starts_.begin(), starts_.end(), rva,
                             [](std::uint32_t value, const Start& start) { return value < start.rva; });
  while (at != starts_.begin()) {
    if ((--at)->function) return &*at;
  }
  return nullptr;
}

}  // namespace mixwalk
