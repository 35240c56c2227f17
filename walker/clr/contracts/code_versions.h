#pragma once

#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// Whether a method's code was compiled from IL that a profiler has put in place of the original one (ReJIT). The PDB
// describes only the original IL. Not frozen-safe.
//
// Source: docs/design/datacontracts/CodeVersions.md of the runtime, public.
bool is_of_replaced_il(const RuntimeReader& reader, const CodeBlock& block);

}  // namespace mixwalk
