#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbols/index/symbol_index.h"
#include "symbols/pdb/inline_annotations.h"

namespace mixwalk {

// Code that one scope of a function claims: scope 0 is the function itself, with its own lines; the other scopes are
// the calls that were inlined in it.
struct ScopedCode {
  PlacedCode code;
  std::uint32_t scope = 0;
};

// One step of the chain at a piece of code.
struct ChainStep {
  static constexpr std::uint32_t kNoFile = UINT32_MAX;

  std::uint32_t scope = 0;
  std::uint32_t file = kNoFile;  // where the code of this scope stands
  std::uint32_t line = 0;        // 0: unknown
  bool operator==(const ChainStep&) const = default;
};

// Takes the pieces of a function, in order.
class ChainSink {
 public:
  // [begin, end): offsets in the function. `chain`: outermost first; its first step is the function.
  virtual void piece(std::uint32_t begin, std::uint32_t end, std::span<const ChainStep> chain) = 0;

 protected:
  ~ChainSink() = default;
};

// Cuts [0, bytes) of a function into pieces of one chain each. `parents`: for each scope, the number of its parent,
// which is smaller (scope 0: any). `code`: in any order; the code of one scope is disjoint.
//
// A scope counts only where its parent does, since a chain of calls has no gap; of siblings that claim the same code,
// the first has it. Returns false where scopes overlap so much that the work would not be proportional to the input: no
// real file has that, and the code behind that place then belongs to the function itself.
bool cut_into_chains(std::uint32_t bytes, std::span<const std::uint32_t> parents,
                     std::vector<ScopedCode> code, ChainSink& sink);

}  // namespace mixwalk
