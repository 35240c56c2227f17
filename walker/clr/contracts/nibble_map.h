#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// How a code heap's map is read. In both kinds, every 32 bytes of the heap have a nibble, which says where in them code
// begins. In the kind of .NET 10, words of the map in whose 256 bytes no code begins lead to the code that covers them.
enum class NibbleMapKind : std::uint8_t { linear, constant_time };

// The beginning of the code that was compiled into the heap (a CodeHeapListNode) and that is at or before `ip`. Returns
// nothing if there is none. An address after the end of a method may be taken for the method. Not frozen-safe.
//
// Source: docs/design/datacontracts/ExecutionManager.md of the runtime, public.
std::optional<std::uint64_t> code_start_at(const RuntimeReader& reader, std::uint64_t heap, std::uint64_t ip,
                                           NibbleMapKind kind);

}  // namespace mixwalk
