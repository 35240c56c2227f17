#include "symbols/pdb/publics.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "symbols/byte_cursor.h"
#include "symbols/demangle/demangle.h"

namespace mixwalk {
namespace {

constexpr std::uint16_t kPublic = 0x110E;                 // S_PUB32
constexpr std::uint32_t kIsCode = 1, kIsFunction = 2;     // its flags

bool before(const PdbPublics::Public& left, const PdbPublics::Public& right) noexcept {
  return std::tuple(left.rva, left.name.size(), left.name) <
         std::tuple(right.rva, right.name.size(), right.name);
}

// Itanium C++ ABI: the constructors C1, C2, … and the destructors D0, D1, D2 of a class are often one function. Section
// 5.1.4.3: in a mangled name, E follows their code, and the parameters follow E.
std::string without_variant(std::string_view name) {
  std::string plain(name);
  if (!plain.starts_with("_Z")) return plain;
  for (std::size_t i = 2; i + 2 < plain.size(); ++i) {
    const bool variant = (plain[i] == 'C' || plain[i] == 'D') && plain[i + 1] >= '0' && plain[i + 1] <= '5';
    if (variant && plain[i + 2] == 'E') plain[i + 1] = '0';
  }
  return plain;
}

}  // namespace

PdbPublics::PdbPublics(const MsfFile& msf, const PdbDbi& dbi, const PeImage* image)
    : bytes_(msf.read(dbi.symbol_stream)) {
  std::vector<Public> unmarked;
  std::size_t budget = kDemangleBudget;
  ByteCursor cursor(bytes_.get());
  while (cursor.left() >= 4) {
    ByteCursor record(cursor.take(cursor.u16()));
    if (cursor.failed()) break;
    if (record.u16() != kPublic) continue;
    const std::uint32_t flags = record.u32();
    const std::uint32_t offset = record.u32();
    const std::uint16_t section = record.u16();
    const std::string_view name = record.text();
    if (record.failed() || name.empty()) continue;
    const bool marked = (flags & (kIsCode | kIsFunction)) != 0;
    if (!marked && (image == nullptr || !dbi.sections.executable(section))) continue;
    auto rva = dbi.sections.rva(section, offset);
    if (rva && !dbi.rearranged.empty()) rva = dbi.rearranged.rva(*rva);
    if (!rva) continue;
    if (!marked) {
      const PeImage::Function* const function = image->function_at(*rva);
      if ((function != nullptr && function->begin != *rva) || !may_name_code(name, budget)) continue;
    }
    (marked ? all_ : unmarked).push_back({*rva, name});
  }
  std::sort(all_.begin(), all_.end(), before);
  count_folded();
  add_unmarked(std::move(unmarked));
  all_.shrink_to_fit();
}

void PdbPublics::count_folded() {
  for (auto first = all_.begin(); first != all_.end();) {
    const auto last =
        std::find_if(first, all_.end(), [&](const Public& one) { return one.rva != first->rva; });
    if (last - first > 1) {
      std::set<std::string> names;
      for (auto one = first; one != last; ++one) names.insert(without_variant(one->name));
      if (names.size() > 1) folded_.emplace_back(first->rva, static_cast<std::uint32_t>(names.size()));
    }
    first = last;
  }
}

// An assembler's symbols at one place are names of one function.
void PdbPublics::add_unmarked(std::vector<Public> unmarked) {
  std::sort(unmarked.begin(), unmarked.end(), before);
  const auto at_same_place = [](const Public& left, const Public& right) { return left.rva == right.rva; };
  unmarked.erase(std::unique(unmarked.begin(), unmarked.end(), at_same_place), unmarked.end());
  const std::size_t marked = all_.size();
  for (const Public& one : unmarked) {
    const auto known = std::lower_bound(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(marked),
                                        Public{one.rva, {}}, before);
    if (known == all_.begin() + static_cast<std::ptrdiff_t>(marked) || known->rva != one.rva) all_.push_back(one);
  }
  std::inplace_merge(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(marked), all_.end(), before);
}

std::span<const PdbPublics::Public> PdbPublics::in(std::uint32_t begin, std::uint32_t end) const noexcept {
  const auto first = std::lower_bound(all_.begin(), all_.end(), Public{begin, {}}, before);
  const auto last = std::lower_bound(first, all_.end(), Public{end, {}}, before);
  return std::span(all_).subspan(static_cast<std::size_t>(first - all_.begin()),
                                 static_cast<std::size_t>(last - first));
}

std::uint32_t PdbPublics::functions_at(std::uint32_t rva) const noexcept {
  const auto found = std::lower_bound(folded_.begin(), folded_.end(), std::pair(rva, 0u));
  return found != folded_.end() && found->first == rva ? found->second : 1;
}

}  // namespace mixwalk
