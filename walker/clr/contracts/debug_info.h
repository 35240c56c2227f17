#pragma once

#include <vector>

#include "symbols/il_map.h"
#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The map of a method's code to its IL, as the JIT or the compiler of ReadyToRun images has written it: what
// il_offset_at() takes with CodeBlock::offset. The result is empty if the code has no map, or if the map cannot be read
// or is not that of this code. Not frozen-safe.
std::vector<IlToNative> il_map_of(const RuntimeReader& reader, const CodeBlock& block);

}  // namespace mixwalk
