#pragma once

#include <cstdint>
#include <vector>

#include "symbols/index/symbol_index.h"

namespace mixwalk {

// A range of code that is claimed for a scope.
struct ClaimedRange {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  ScopeId scope = kNoScope;
  std::uint64_t rank = 0;  // if ranges overlap, the code belongs to the range with the highest rank
};

// Makes disjoint, sorted segments. Each address belongs to the claim with the highest rank that covers it; if several
// claims have that rank, to the claim that begins last. Adjacent segments of one scope are joined. Code that no claim
// covers is a segment of kNoScope, also behind the last claim. Empty claims are ignored. There are at most two segments
// per claim, and the time is n log n. Pure.
std::vector<Segment> disjoint(std::vector<ClaimedRange> claims);

}  // namespace mixwalk
