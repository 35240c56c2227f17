#pragma once

#include <optional>

#include "symbols/calls/call_checker.h"
#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/write_output.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Writes a symbolised snapshot as the command line says. `colour`: whether text has colours. Returns nothing if the
// snapshot was written.
std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& how, bool colour, Output& output,
                                  CallChecker& calls);

}  // namespace mixwalk
