#pragma once

#include <optional>
#include <vector>

#include "symbols/calls/call_checker.h"
#include "walker/base/failure.h"
#include "walker/base/partial_file.h"
#include "walker/cli/options/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Writes a symbolised snapshot as the command line says: to `file`, which is then committed, or to standard output if
// `file` is null. `colour`: whether text has colours. Returns nothing if the snapshot was written.
std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& output, bool colour, PartialFile* file,
                                  CallChecker& calls);

// Like write_dump(), for a series of dumps, in a format that can contain one.
std::optional<Failure> write_series(const std::vector<Snapshot>& dumps, const DumpOutput& output, PartialFile* file);

}  // namespace mixwalk
