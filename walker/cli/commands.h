#pragma once

#include "walker/base/exit_code.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// The commands about recordings, on any system. Failures are reported on standard error. (For dumps: dump_file.h and
// hang.h; for processes: win/command.h.)

// Prints one line on standard error if the recording was cut off.
ExitCode run(const ConvertCommand& command);
// Reads and writes the recording chunk by chunk, so memory holds its tables, but no samples. Prints on standard error
// what was done, and on standard output which PDBs are missing.
ExitCode run(const SymboliseCommand& command);

}  // namespace mixwalk
