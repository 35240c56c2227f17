#pragma once

#include "walker/base/exit_code.h"
#include "walker/cli/options.h"

namespace mixwalk {

// mixwalk symbolise, on any system. Reads and writes chunk by chunk: of the recording, memory holds
// the tables and no samples. Prints what it did on standard error, and which PDBs are missing on
// standard output.
ExitCode run(const SymboliseCommand& command);

}  // namespace mixwalk
