#pragma once

#include <optional>
#include <vector>

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

// Like write_dump(), for a series of dumps, in a format that can contain one.
std::optional<Failure> write_series(const std::vector<Snapshot>& dumps, const DumpOutput& how, Output& output);

}  // namespace mixwalk
