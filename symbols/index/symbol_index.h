#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/index/name_pool.h"
#include "symbols/index/sorted_rows.h"

namespace mixwalk {

// What native symbols say about code, in the one form that every reader of symbols fills (IndexBuilder): sorted arrays.
// Immutable. Not frozen-safe.
//
// There are three arrays. Segments: disjoint, sorted; each says to which scope the code from its RVA up to the next
// segment belongs. Scopes: a function, or one inlined call of a function; its parent is the scope into which the call
// was inlined. Line rows: sorted; each says the place in the source for the code from its RVA up to the next row.

// The number of a scope in its index.
using ScopeId = std::uint32_t;
inline constexpr ScopeId kNoScope = UINT32_MAX;

struct Segment {
  std::uint32_t rva = 0;
  ScopeId scope = kNoScope;  // kNoScope: no function is known here
  bool operator==(const Segment&) const = default;
};

struct Scope {
  NameId name = kNoName;
  ScopeId parent = kNoScope;      // kNoScope: a function; else it was added before this scope
  std::uint32_t begin = 0;        // a function: the RVA of its entry
  NameId call_file = kNoName;     // inlined: where the call stands
  std::uint32_t call_line = 0;    // inlined: 0 is unknown
  bool operator==(const Scope&) const = default;
};

struct LineRow {
  std::uint32_t rva = 0;
  NameId file = kNoName;  // kNoName: nothing is known from here on
  std::uint32_t line = 0;  // 0: no line of the source made this code
  bool operator==(const LineRow&) const = default;
};

// One function of the chain at an address. The views are valid as long as the NamePool.
struct SourceFrame {
  std::string_view name;  // as the symbols have it: decorated, if they have that. Empty: nameless
  std::string_view file;  // empty: unknown
  std::uint32_t line = 0;  // 0: unknown
  bool operator==(const SourceFrame&) const = default;
};

// What is known of an address. Made to be filled again and again.
struct SourceLocation {
  // Where the function that is really called begins: at or before the address. For a part that the compiler moved in
  // front of the function's entry ("cold"), where that part begins.
  std::uint32_t begin = 0;
  // How many functions have exactly this code, since the linker folded equal functions; the names are those of one of
  // them. 1: this function is the only one.
  std::uint32_t folded = 1;
  // Innermost first; the last one is the function, and each one before it is inlined into the next one. Never empty
  // after a look-up that found the address.
  std::vector<SourceFrame> frames;
};

class SymbolIndex {
 public:
  // Calls inlined into each other; a chain of look-up is no longer. Real ones have some 40.
  static constexpr std::size_t kMaxDepth = 250;

  SymbolIndex() = default;
  // For an IndexBuilder. `folded`: (function, count), sorted, for functions that share their code.
  struct Folded {
    ScopeId function;
    std::uint32_t functions;
  };
  SymbolIndex(std::vector<Segment> segments, std::vector<Scope> scopes, std::vector<LineRow> lines,
              std::vector<Folded> folded);

  // False: no function is known at that RVA, and `into` is unchanged. `names`: the pool of the builder. `rva`: inside
  // the instruction (CodeAddress::lookup()).
  bool find(std::uint32_t rva, const NamePool& names, SourceLocation& into) const;

  // The place in the source alone, for code whose function is not known (a compiler leaves out functions that it made
  // itself, and folded ones): then `into` has no name. False: nothing is known.
  bool find_line(std::uint32_t rva, const NamePool& names, SourceFrame& into) const;

  std::span<const Segment> segments() const noexcept { return segments_.rows(); }
  std::span<const Scope> scopes() const noexcept { return scopes_; }
  std::span<const LineRow> lines() const noexcept { return lines_.rows(); }
  std::size_t bytes() const noexcept;  // of memory, without the names

 private:
  ScopeId function_of(ScopeId scope) const noexcept;
  std::uint32_t begin_of_part(std::size_t segment, ScopeId function) const noexcept;

  SortedRows<Segment> segments_;
  std::vector<Scope> scopes_;
  SortedRows<LineRow> lines_;
  std::vector<Folded> folded_;
};

}  // namespace mixwalk
