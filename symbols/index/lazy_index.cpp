#include "symbols/index/lazy_index.h"

#include <utility>

namespace mixwalk {
namespace {

SortedRows<Segment> by_code(const std::vector<UnitRange>& ranges) {
  std::vector<ClaimedRange> claims;
  claims.reserve(ranges.size());
  for (const UnitRange& range : ranges) claims.push_back({range.begin, range.end, range.unit});
  return SortedRows<Segment>(disjoint(std::move(claims)));
}

}  // namespace

LazyIndex::LazyIndex(std::vector<UnitRange> ranges, std::unique_ptr<UnitReader> reader,
                     std::uint32_t image_bytes)
    : names_(std::make_unique<NamePool>()),
      reader_(std::move(reader)),
      builder_(*names_, image_bytes),
      by_code_(by_code(ranges)) {}

const SymbolIndex& LazyIndex::unit(std::uint32_t number) {
  const auto [at, fresh] = units_.try_emplace(number);
  if (!fresh) return at->second;
  reader_->read_unit(number, builder_);
  SymbolIndex index = builder_.build();
  if (bytes() + index.bytes() <= kMaxBytes) {
    index_bytes_ += index.bytes();
    at->second = std::move(index);
  }
  return at->second;
}

const SymbolIndex* LazyIndex::unit_at(std::uint32_t rva) {
  const Segment* const segment = by_code_.last_at(rva);
  return segment == nullptr || segment->scope == kNoScope ? nullptr : &unit(segment->scope);
}

bool LazyIndex::find(std::uint32_t rva, SourceLocation& into) {
  const SymbolIndex* const index = unit_at(rva);
  return index != nullptr && index->find(rva, *names_, into);
}

bool LazyIndex::find_line(std::uint32_t rva, SourceFrame& into) {
  const SymbolIndex* const index = unit_at(rva);
  return index != nullptr && index->find_line(rva, *names_, into);
}

std::size_t LazyIndex::bytes() const noexcept {
  // std::unordered_map adds a link and a slot to an entry.
  constexpr std::size_t kPerUnit = sizeof(std::pair<const std::uint32_t, SymbolIndex>) + 2 * sizeof(void*);
  return index_bytes_ + names_->bytes() + by_code_.bytes() +
         units_.size() * kPerUnit;
}

}  // namespace mixwalk
