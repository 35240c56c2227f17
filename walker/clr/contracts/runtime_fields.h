#pragma once

#include <cstdint>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/contracts/runtime_modules.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The instance fields of a type, those of its base types first, by the address of its MethodTable. The result is empty
// if the metadata is not in memory, or if one of the FieldDescs does not name the type as its own. Not frozen-safe.
//
// Source: docs/design/datacontracts/RuntimeTypeSystem.md and Loader.md of the runtime, public. A field's signature
// names the type of a value (ECMA-335 II.23.2.4), and the module's maps of tokens lead to its MethodTable.
std::vector<ClrField> fields_of_type(const RuntimeReader& reader, RuntimeModules& modules, std::uint64_t method_table);

}  // namespace mixwalk
