#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/index/name_pool.h"
#include "symbols/index/sorted_rows.h"

namespace mixwalk {

// The functions, inlined calls and lines of an image, from native symbols. Every reader of native symbols fills this
// one form (IndexBuilder). The form consists of sorted arrays. Immutable. Not frozen-safe.
//
// There are three arrays. Segments are disjoint and sorted; each says to which scope the code from its RVA up to the
// next segment belongs. Scopes are functions and inlined calls of functions; the parent of an inlined call is the scope
// into which the call was inlined. Line rows are sorted; each says the place in the source for the code from its RVA up
// to the next row.

// The number of a scope in its index.
using ScopeId = std::uint32_t;
inline constexpr ScopeId kNoScope = UINT32_MAX;

struct Segment {
  std::uint32_t rva = 0;
  ScopeId scope = kNoScope;  // kNoScope if no function is known here
  bool operator==(const Segment&) const = default;
};

struct Scope {
  NameId name = kNoName;
  ScopeId parent = kNoScope;      // kNoScope for a function; otherwise it was added before this scope
  std::uint32_t begin = 0;        // for a function: the RVA of its entry
  NameId call_file = kNoName;     // for an inlined call: the file of the call
  std::uint32_t call_line = 0;    // for an inlined call: its line, 0 if unknown
  bool operator==(const Scope&) const = default;
};

struct LineRow {
  std::uint32_t rva = 0;
  NameId file = kNoName;  // kNoName if nothing is known from here on
  std::uint32_t line = 0;  // 0 if no line of the source made this code
  bool operator==(const LineRow&) const = default;
};

// One function of the chain at an address. The views are valid as long as the NamePool.
struct SourceFrame {
  std::string_view name;  // as in the symbols, which may be decorated; empty if the function has no name
  std::string_view file;  // empty if unknown
  std::uint32_t line = 0;  // 0 if unknown
  bool operator==(const SourceFrame&) const = default;
};

// The function and the places in the source that belong to an address. The same object can be filled again and again.
struct SourceLocation {
  // The RVA where the function that is really called begins, at or before the address. For a part that the compiler
  // moved in front of the function's entry ("cold"), the RVA where that part begins.
  std::uint32_t begin = 0;
  std::uint32_t entry = 0;  // the RVA of the function's entry
  // How many functions have exactly this code, since the linker folded equal functions; the names are those of one of
  // these functions. 1 means that this function is the only one.
  std::uint32_t folded = 1;
  // Innermost first. The last frame is the function, and each frame before it is inlined into the next one. Never empty
  // after a look-up that found the address.
  std::vector<SourceFrame> frames;
};

class SymbolIndex {
 public:
  // The maximum depth of calls that are inlined into each other, and so the maximum length of a chain that a look-up
  // returns. Real chains have some 40 frames.
  static constexpr std::size_t kMaxDepth = 250;

  SymbolIndex() = default;
  // Used by IndexBuilder. `folded` has (function, count), sorted, for functions that share their code.
  struct Folded {
    ScopeId function;
    std::uint32_t functions;
  };
  SymbolIndex(std::vector<Segment> segments, std::vector<Scope> scopes, std::vector<LineRow> lines,
              std::vector<Folded> folded);

  // Returns false and leaves `into` unchanged if no function is known at that RVA. `names` is the pool of the builder.
  // `rva` lies inside the instruction (CodeAddress::lookup()).
  bool find(std::uint32_t rva, const NamePool& names, SourceLocation& into) const;

  // Finds only the place in the source, for code whose function is not known (a compiler leaves out functions that it
  // made itself, and folded ones); `into` then has no name. Returns false if nothing is known.
  bool find_line(std::uint32_t rva, const NamePool& names, SourceFrame& into) const;

  std::span<const Segment> segments() const noexcept { return segments_.rows(); }
  std::span<const Scope> scopes() const noexcept { return scopes_; }
  std::span<const LineRow> lines() const noexcept { return lines_.rows(); }
  std::size_t bytes() const noexcept;  // memory in use, without the names

 private:
  ScopeId function_of(ScopeId scope) const noexcept;
  std::uint32_t begin_of_part(std::size_t segment, ScopeId function) const noexcept;

  SortedRows<Segment> segments_;
  std::vector<Scope> scopes_;
  SortedRows<LineRow> lines_;
  std::vector<Folded> folded_;
};

}  // namespace mixwalk
