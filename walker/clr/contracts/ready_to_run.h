#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/range_map.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The method at an address in a ReadyToRun image, funclets and cold parts included. Returns nothing if no method's code
// is there, as in the image's thunks, or if the runtime has not prepared the method. Not frozen-safe.
//
// Source: docs/design/datacontracts/ExecutionManager.md and HashMap.md of the runtime, public. The addresses of the
// image's functions are relative to the beginning of the section, also for an image that is in no list.
std::optional<CodeBlock> ready_to_run_code_at(const RuntimeReader& reader, const CodeSection& section,
                                              std::uint64_t ip);

// Whether the address is in one of the image's thunks, which load the address of a method when it is first called.
bool is_ready_to_run_thunk(const RuntimeReader& reader, const CodeSection& section, std::uint64_t ip);

}  // namespace mixwalk
