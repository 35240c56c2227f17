#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/index/disjoint.h"
#include "symbols/index/symbol_index.h"

namespace mixwalk {

// Collects what a reader of symbols finds, and makes a SymbolIndex from it. All of the input may be wrong: its amount
// is limited, and build() makes overlapping claims disjoint. Not frozen-safe.
//
// The rules for overlapping claims. Functions: the code belongs to the function whose entry lies last; if several have
// the same entry, to the function that was added first, with all calls that are inlined in it. So chains of two
// functions never mix, and SourceLocation::folded counts the functions. Within one function the code belongs to the
// deepest scope; if several are equally deep, to the scope that was added last. Lines: if there are several rows at one
// address, the row that was added last counts; a sequence that begins inside an earlier one takes effect where the
// earlier one ends.
class IndexBuilder {
 public:
  // Some ten times the numbers in the largest compilation unit of a browser built with LTO; at these limits a builder
  // needs some 300 MiB. Anything beyond a limit is left out, and full() becomes true.
  static constexpr std::size_t kMaxScopes = 4'000'000;
  static constexpr std::size_t kMaxRanges = 6'000'000;
  static constexpr std::size_t kMaxLines = 8'000'000;

  // `names` must outlive this object. RVAs at or above `image_bytes` (SizeOfImage) are invalid: ranges are cut there.
  IndexBuilder(NamePool& names, std::uint32_t image_bytes) noexcept
      : names_(names), image_bytes_(image_bytes) {}

  // The text of a name or a path, for the calls below.
  NameId name(std::string_view text) { return names_.intern(text); }

  // Adds a function; `begin` is the RVA of its entry. Returns kNoScope if the builder is full.
  ScopeId add_function(NameId name, std::uint32_t begin);
  // Adds a call that was inlined into `parent` at that place of the parent's source (0 is an unknown line). Returns
  // kNoScope if the builder is full, the parent is kNoScope, or the chain is deeper than SymbolIndex::kMaxDepth. Code
  // of such a scope belongs to its parent: use the parent's id instead.
  ScopeId add_inlined(ScopeId parent, NameId name, NameId call_file, std::uint32_t call_line);
  // Adds code of the scope: [begin, end). The range of an inlined scope is not cut to its parent's.
  void add_range(ScopeId scope, std::uint32_t begin, std::uint32_t end);

  // Add the rows of one sequence, in any order, and after them the end of the sequence.
  void add_line(std::uint32_t rva, NameId file, std::uint32_t line);
  // `end` is the address behind the last code of the sequence.
  void end_sequence(std::uint32_t end);

  bool full() const noexcept { return full_; }
  // The memory in bytes that the builder uses, without the names.
  std::size_t bytes() const noexcept;

  // Leaves the builder empty, so that it can be filled again. Rows behind the last end_sequence() are dropped.
  SymbolIndex build();

 private:
  struct Sequence {
    std::uint32_t begin, end;
    std::uint32_t first, count;  // of rows_
  };
  std::vector<Segment> build_segments(std::vector<SymbolIndex::Folded>& folded);
  std::vector<LineRow> build_lines();

  NamePool& names_;
  std::uint32_t image_bytes_;
  std::vector<Scope> scopes_;
  std::vector<std::uint8_t> depths_;  // for each scope, how many scopes lie above it
  std::vector<ClaimedRange> ranges_;
  std::vector<LineRow> rows_;
  std::vector<Sequence> sequences_;
  std::size_t sequence_begin_ = 0;  // the first row of the sequence that is being added
  bool full_ = false;
};

}  // namespace mixwalk
