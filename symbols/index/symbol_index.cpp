#include "symbols/index/symbol_index.h"

#include <algorithm>
#include <utility>

namespace mixwalk {
SymbolIndex::SymbolIndex(std::vector<Segment> segments, std::vector<Scope> scopes,
                         std::vector<LineRow> lines, std::vector<Folded> folded)
    : segments_(std::move(segments)),
      scopes_(std::move(scopes)),
      lines_(std::move(lines)),
      folded_(std::move(folded)) {}

ScopeId SymbolIndex::function_of(ScopeId scope) const noexcept {
  while (scope != kNoScope && scopes_[scope].parent != kNoScope) scope = scopes_[scope].parent;
  return scope;
}

// Returns where the code of the function begins that has no gap up to this segment.
std::uint32_t SymbolIndex::begin_of_part(std::size_t segment, ScopeId function) const noexcept {
  while (segment > 0 && function_of(segments()[segment - 1].scope) == function) --segment;
  return segments()[segment].rva;
}

bool SymbolIndex::find(std::uint32_t rva, const NamePool& names, SourceLocation& into) const {
  const Segment* const segment = segments_.last_at(rva);
  if (segment == nullptr || segment->scope == kNoScope) return false;
  into.frames.clear();
  SourceFrame place;
  find_line(rva, names, place);
  ScopeId function = segment->scope;
  for (ScopeId at = segment->scope; at != kNoScope; at = scopes_[at].parent) {
    const Scope& scope = scopes_[at];
    function = at;
    place.name = names.text(scope.name);
    into.frames.push_back(place);
    place.file = names.text(scope.call_file);
    place.line = scope.call_line;
  }
  into.begin = into.entry = scopes_[function].begin;
  if (into.begin > rva) {
    into.begin = begin_of_part(static_cast<std::size_t>(segment - segments().data()), function);
  }
  const auto folded =
      std::lower_bound(folded_.begin(), folded_.end(), function,
                       [](const Folded& item, ScopeId value) { return item.function < value; });
  into.folded = folded != folded_.end() && folded->function == function ? folded->functions : 1;
  return true;
}

bool SymbolIndex::find_line(std::uint32_t rva, const NamePool& names, SourceFrame& into) const {
  const LineRow* const row = lines_.last_at(rva);
  if (row == nullptr || row->file == kNoName) return false;
  into = {{}, names.text(row->file), row->line};
  return true;
}

std::size_t SymbolIndex::bytes() const noexcept {
  return segments_.bytes() + scopes_.capacity() * sizeof(Scope) + lines_.bytes() + folded_.capacity() * sizeof(Folded);
}

}  // namespace mixwalk
