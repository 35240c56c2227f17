#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The managed code at an address, compiled while the program ran or ahead of time. Returns nothing if there is none.
// `ip`: an address inside the instruction (CodeAddress::lookup()). Not frozen-safe.
std::optional<CodeBlock> code_block_at(const RuntimeReader& reader, std::uint64_t ip);

// The kind of the runtime's own code at an address that belongs to no method, as its debugging library names it
// ("VSD_ResolveStub"). Returns an empty text if there is no such code, or its kind is unknown.
std::string stub_kind_at(const RuntimeReader& reader, std::uint64_t ip);

}  // namespace mixwalk
