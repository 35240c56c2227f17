#pragma once

#include <cstdint>
#include <optional>

#include "walker/clr/contracts/runtime_reader.h"
#include "walker/clr/heap_walk.h"

namespace mixwalk {

// The EEClass of a type, by the address of its MethodTable. Instantiations that share code share the class of one of
// them. Returns nothing if this is no MethodTable: the class must lead back to the MethodTable that owns it.
std::optional<std::uint64_t> class_of_type(const RuntimeReader& reader, std::uint64_t method_table);

// Whether a type's MethodTable is at this address. The room that the collector leaves between objects has one, too.
bool is_method_table(const RuntimeReader& reader, std::uint64_t method_table);
// Whether this is the MethodTable of such room.
bool is_free_room(const RuntimeReader& reader, std::uint64_t method_table);

// The size of the type's objects, as the collector uses it. The result has no base if there is no type at this address.
ObjectBytes object_bytes_of(const RuntimeReader& reader, std::uint64_t method_table);

}  // namespace mixwalk
