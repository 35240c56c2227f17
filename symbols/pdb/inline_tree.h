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
  std::uint32_t file = kNoFile;  // where the code of this scope is in the source
  std::uint32_t line = 0;        // 0 if unknown
  bool operator==(const ChainStep&) const = default;
};

// Receives the pieces of a function, in order.
class ChainSink {
 public:
  // [begin, end) are offsets in the function. `chain` is outermost first; its first step is the function.
  virtual void piece(std::uint32_t begin, std::uint32_t end, std::span<const ChainStep> chain) = 0;

 protected:
  ~ChainSink() = default;
};

// Cuts [0, bytes) of a function into pieces of one chain each. `parents` has for each scope the number of its parent,
// which is smaller (any number for scope 0). `code` may be in any order; the code of one scope is disjoint.
//
// A scope counts only where its parent does, since a chain of calls has no gap. If siblings claim the same code, it
// belongs to the first. Returns false if scopes overlap so much that the work would not be proportional to the input.
// No real file has such scopes; the code behind that place then belongs to the function itself.
bool cut_into_chains(std::uint32_t bytes, std::span<const std::uint32_t> parents,
                     std::vector<ScopedCode> code, ChainSink& sink);

}  // namespace mixwalk
