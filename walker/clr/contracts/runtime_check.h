#pragma once

#include <string>

#include "walker/clr/contracts/runtime_names.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// Checks that a runtime's data is what its contracts describe: from System.String to its module, to the code of that
// module, and through the map of all code back to the module. If the module has no code, System.String must have its
// name. Returns an empty text, or what is wrong. `small_dump`: the memory lacks most of the runtime's data. Not
// frozen-safe.
std::string check_runtime(const RuntimeReader& reader, RuntimeNames& names, bool small_dump);

}  // namespace mixwalk
