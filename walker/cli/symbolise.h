#pragma once

#include "walker/base/exit_code.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// mixwalk symbolise, on any system. Reads and writes the recording chunk by chunk, so memory holds its tables, but no
// samples. Prints on standard error what was done, and on standard output which PDBs are missing.
ExitCode run(const SymboliseCommand& command);

}  // namespace mixwalk
