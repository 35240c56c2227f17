#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mixwalk {

// Rows sorted by RVA, for look-ups of the last row at or before an address. Immutable. Not frozen-safe to make.
//
// A table says where the rows of each page begin; the page size in bytes of the image is such that a page has
// kRowsPerPage rows on average. A look-up reads the page's entry and searches the few rows there. In a binary search of
// all rows, nearly every step waits for memory when each look-up is in another place than the one before. A million
// look-ups in 56 MB of DWARF took a quarter longer with a binary search (tests/bench/symbols).
template <class Row>  // has a member `rva`, std::uint32_t
class SortedRows {
 public:
  // The table takes no more than four bytes per this many rows, whatever their RVAs are, because rows may come from a
  // hostile file. If many rows are in few pages, a page is searched by binary search.
  static constexpr std::size_t kRowsPerPage = 2;

  SortedRows() = default;
  // `rows` are sorted by RVA, with each RVA once; there are fewer than 2^32 of them.
  explicit SortedRows(std::vector<Row> rows) : rows_(std::move(rows)) {
    if (rows_.empty()) return;
    const std::uint64_t span = last().rva - first().rva;
    while (span >> page_bits_ >= std::max<std::size_t>(rows_.size() / kRowsPerPage, 1)) ++page_bits_;
    pages_.reserve(static_cast<std::size_t>(span >> page_bits_) + 2);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      while (pages_.size() <= page_of(rows_[i].rva)) pages_.push_back(static_cast<std::uint32_t>(i));
    }
    pages_.push_back(static_cast<std::uint32_t>(rows_.size()));
  }

  // Returns null if all rows lie behind the RVA.
  const Row* last_at(std::uint32_t rva) const noexcept {
    if (rows_.empty() || rva < first().rva) return nullptr;
    const std::size_t page = page_of(std::min(rva, last().rva));
    const Row* const after = std::upper_bound(rows_.data() + pages_[page], rows_.data() + pages_[page + 1], rva,
                                              [](std::uint32_t value, const Row& row) { return value < row.rva; });
    return after - 1;  // the first row lies in the first page
  }

  std::span<const Row> rows() const noexcept { return rows_; }
  // The memory in use.
  std::size_t bytes() const noexcept {
    return rows_.capacity() * sizeof(Row) + pages_.capacity() * sizeof(std::uint32_t);
  }

 private:
  const Row& first() const noexcept { return rows_.front(); }
  const Row& last() const noexcept { return rows_.back(); }
  std::size_t page_of(std::uint32_t rva) const noexcept {
    return static_cast<std::size_t>(std::uint64_t{rva - first().rva} >> page_bits_);
  }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> pages_;  // number of the first row in each page or behind it; the last is the row count
  unsigned page_bits_ = 0;            // a page has 2^page_bits_ bytes; up to 32
};

}  // namespace mixwalk
