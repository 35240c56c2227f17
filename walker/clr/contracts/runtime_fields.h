#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/clr/contracts/runtime_modules.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// A field of a type's objects.
struct RuntimeField {
  std::string name;          // as in metadata
  std::uint64_t offset = 0;  // from the address of the object
};

// The fields that a type declares itself, without those of its base types, by the address of its MethodTable. The
// result is empty if the metadata is not in memory, or if one of its FieldDescs does not name the type as its own. Not
// frozen-safe.
std::vector<RuntimeField> fields_of_type(const RuntimeReader& reader, RuntimeModules& modules,
                                         std::uint64_t method_table);

}  // namespace mixwalk
