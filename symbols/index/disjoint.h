#pragma once

#include <cstdint>
#include <vector>

#include "symbols/index/symbol_index.h"

namespace mixwalk {

// Code that something claims for a scope.
struct ClaimedRange {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  ScopeId scope = kNoScope;
  std::uint64_t rank = 0;  // where ranges overlap, the code belongs to the one of the highest rank
};

// Disjoint, sorted segments: each address belongs to the claim of the highest rank that covers it; of claims with equal
// ranks, to the one that begins last. Adjacent segments of one scope are joined; code that no claim covers is a segment
// of kNoScope, also behind the last claim. Empty claims are ignored. At most two segments per claim, in n log n. Pure.
std::vector<Segment> disjoint(std::vector<ClaimedRange> claims);

}  // namespace mixwalk
