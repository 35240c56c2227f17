#pragma once

#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// Whether a method's code was compiled from IL that a profiler has put in place of the original one (ReJIT). The PDB
// describes only the original IL. Not frozen-safe.
//
// Source: docs/design/datacontracts/CodeVersions.md of the runtime, public.
bool is_of_replaced_il(const RuntimeReader& reader, const CodeBlock& block);

// Whether hot reload has changed or added a method (MethodDef token) of a module (address of the runtime's Module). The
// PDB says nothing about the new IL; and nothing says how many changes lie behind code that was compiled before.
//
// Source: GetDynamicIL in docs/design/datacontracts/Loader.md of the runtime, public.
bool is_reloaded(const RuntimeReader& reader, std::uint64_t module, std::uint32_t token);

}  // namespace mixwalk
