#pragma once

#include <optional>

#include "symbols/calls/call_checker.h"
#include "walker/base/failure.h"
#include "walker/base/partial_file.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The failure of a file that cannot be written, or (no output) of standard output.
Failure unwritable(const DumpOutput& output, const std::string& why);

// Writes a symbolised snapshot as the command line says: to the file, which is committed, or (null) to standard
// output. `colour`: of text. Nothing: written.
std::optional<Failure> write_dump(const Snapshot& snapshot, const DumpOutput& output, bool colour, PartialFile* file,
                                  CallChecker& calls);

}  // namespace mixwalk
