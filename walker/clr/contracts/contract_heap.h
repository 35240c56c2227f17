#pragma once

#include <span>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_reader.h"
#include "walker/clr/heap_walk.h"

namespace mixwalk {

// The managed heap, as far as it is read before the deadline. `threads`: those of runtime_threads(). `reader` must
// outlive the result. Not frozen-safe.
//
// Source: gcinterface.dac.h and gcinterface.dacvars.def of the runtime, public: the collector tells the debugging
// library where its data is by a structure with a version of its own (GcDacVars). Another minor version only has more
// fields at its end.
ManagedHeap contract_heap(const RuntimeReader& reader, std::span<const ClrThread> threads, HeapDeadline deadline);

}  // namespace mixwalk
