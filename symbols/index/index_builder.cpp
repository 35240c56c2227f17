#include "symbols/index/index_builder.h"

#include <algorithm>
#include <utility>

namespace mixwalk {
namespace {

// The parts of a claim's rank, from the highest bits down: the function, the depth in it, the scope.
constexpr unsigned kScopeBits = 24, kDepthBits = 8;
static_assert(IndexBuilder::kMaxScopes < 1u << kScopeBits);
static_assert(SymbolIndex::kMaxDepth < 1u << kDepthBits);

}  // namespace

ScopeId IndexBuilder::add_function(NameId name, std::uint32_t begin) {
  if (scopes_.size() >= kMaxScopes) {
    full_ = true;
    return kNoScope;
  }
  scopes_.push_back({.name = name, .begin = begin});
  depths_.push_back(0);
  return static_cast<ScopeId>(scopes_.size() - 1);
}

ScopeId IndexBuilder::add_inlined(ScopeId parent, NameId name, NameId call_file,
                                  std::uint32_t call_line) {
  if (parent >= scopes_.size()) return kNoScope;
  if (scopes_.size() >= kMaxScopes || depths_[parent] + 1u >= SymbolIndex::kMaxDepth) {
    full_ = true;
    return kNoScope;
  }
  scopes_.push_back({.name = name, .parent = parent, .call_file = call_file, .call_line = call_line});
  depths_.push_back(static_cast<std::uint8_t>(depths_[parent] + 1));
  return static_cast<ScopeId>(scopes_.size() - 1);
}

void IndexBuilder::add_range(ScopeId scope, std::uint32_t begin, std::uint32_t end) {
  end = std::min(end, image_bytes_);
  if (scope >= scopes_.size() || begin >= end) return;
  if (ranges_.size() >= kMaxRanges) {
    full_ = true;
    return;
  }
  ranges_.push_back({begin, end, scope});
}

void IndexBuilder::add_line(std::uint32_t rva, NameId file, std::uint32_t line) {
  if (rva >= image_bytes_) return;
  if (rows_.size() >= kMaxLines) {
    full_ = true;
    return;
  }
  rows_.push_back({rva, file, line});
}

void IndexBuilder::end_sequence(std::uint32_t end) {
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(sequence_begin_);
  const auto by_rva = [](const LineRow& left, const LineRow& right) { return left.rva < right.rva; };
  if (!std::is_sorted(first, rows_.end(), by_rva)) std::stable_sort(first, rows_.end(), by_rva);
  end = std::min(end, image_bytes_);
  if (first != rows_.end() && first->rva < end) {
    sequences_.push_back({first->rva, end, static_cast<std::uint32_t>(sequence_begin_),
                          static_cast<std::uint32_t>(rows_.size() - sequence_begin_)});
  } else {
    rows_.resize(sequence_begin_);
  }
  sequence_begin_ = rows_.size();
}

std::size_t IndexBuilder::bytes() const noexcept {
  return scopes_.capacity() * sizeof(Scope) + depths_.capacity() +
         ranges_.capacity() * sizeof(ClaimedRange) + rows_.capacity() * sizeof(LineRow) +
         sequences_.capacity() * sizeof(Sequence);
}

SymbolIndex IndexBuilder::build() {
  std::vector<SymbolIndex::Folded> folded;
  std::vector<Segment> segments = build_segments(folded);
  std::vector<LineRow> lines = build_lines();
  // The index gets copies of exactly the right size; the builder keeps its memory for its next content.
  SymbolIndex index(std::move(segments), std::vector<Scope>(scopes_), std::move(lines),
                    std::move(folded));
  scopes_.clear();
  depths_.clear();
  ranges_.clear();
  rows_.clear();
  sequences_.clear();
  sequence_begin_ = 0;
  full_ = false;
  return index;
}

// Gives each claim its rank, and counts the functions that share their entry with others.
std::vector<Segment> IndexBuilder::build_segments(std::vector<SymbolIndex::Folded>& folded) {
  std::vector<ScopeId> function_of(scopes_.size()), functions;
  for (ScopeId scope = 0; scope < scopes_.size(); ++scope) {
    const ScopeId parent = scopes_[scope].parent;
    function_of[scope] = parent == kNoScope ? scope : function_of[parent];
    if (parent == kNoScope) functions.push_back(scope);
  }
  // The order is from the weakest to the strongest: the later entry wins, and if entries are equal, the earlier
  // function.
  std::sort(functions.begin(), functions.end(), [&](ScopeId left, ScopeId right) {
    return std::pair(scopes_[left].begin, right) < std::pair(scopes_[right].begin, left);
  });
  std::vector<std::uint32_t> order(scopes_.size());
  for (std::uint32_t i = 0; i < functions.size(); ++i) order[functions[i]] = i;

  // If several functions have the same entry, only those with code at the entry count.
  std::vector<bool> has_entry(scopes_.size());
  for (ClaimedRange& range : ranges_) {
    const ScopeId function = function_of[range.scope];
    range.rank = std::uint64_t{order[function]} << (kDepthBits + kScopeBits) |
                 std::uint64_t{depths_[range.scope]} << kScopeBits | range.scope;
    if (range.scope == function && range.begin == scopes_[function].begin) has_entry[function] = true;
  }
  std::erase_if(functions, [&](ScopeId function) { return !has_entry[function]; });
  for (std::size_t last = 0; last < functions.size();) {
    const std::size_t first = last;
    const std::uint32_t entry = scopes_[functions[first]].begin;
    while (last < functions.size() && scopes_[functions[last]].begin == entry) ++last;
    if (last - first > 1) {
      folded.push_back({functions[last - 1], static_cast<std::uint32_t>(last - first)});
    }
  }
  std::sort(folded.begin(), folded.end(),
            [](const auto& left, const auto& right) { return left.function < right.function; });
  return disjoint(std::exchange(ranges_, {}));
}

std::vector<LineRow> IndexBuilder::build_lines() {
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [](const Sequence& left, const Sequence& right) { return left.begin < right.begin; });
  std::vector<LineRow> lines;
  const auto put = [&](const LineRow& row) {
    if (!lines.empty() && lines.back().rva == row.rva) lines.pop_back();
    if (!lines.empty() && lines.back().file == row.file && lines.back().line == row.line) return;
    lines.push_back(row);
  };
  std::uint32_t covered = 0;  // an earlier sequence covers the code up to here
  for (const Sequence& sequence : sequences_) {
    if (sequence.end <= covered) continue;
    for (std::uint32_t i = 0; i < sequence.count; ++i) {
      LineRow row = rows_[sequence.first + i];
      if (row.rva >= sequence.end) break;
      row.rva = std::max(row.rva, covered);
      put(row);
    }
    covered = sequence.end;
    put({covered, kNoName, 0});
  }
  lines.shrink_to_fit();
  return lines;
}

}  // namespace mixwalk
