#pragma once

#include <span>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_reader.h"
#include "walker/clr/heap_walk.h"

namespace mixwalk {

// The parts of the managed heap, for a walk through it. Parts may be missing if the deadline passes.
struct ContractHeap {
  std::vector<HeapPart> parts;  // HeapParts::take(); empty if the heap cannot be read, or is being collected
  HeapTypes types;
};

// `threads`: those of runtime_threads(). `reader` must outlive the result. Not frozen-safe.
//
// Source: gcinterface.dac.h and gcinterface.dacvars.def of the runtime, public: the collector tells the debugging
// library where its data is by a structure with a version of its own (GcDacVars). Another minor version only has more
// fields at its end.
ContractHeap contract_heap(const RuntimeReader& reader, std::span<const ClrThread> threads, HeapDeadline deadline);

}  // namespace mixwalk
