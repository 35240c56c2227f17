#pragma once

#include <functional>
#include <string>
#include <vector>

#include "walker/base/failure.h"
#include "walker/cli/dump_file.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/write_output.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

using OpenDump = std::function<Outcome<Snapshot>(const std::string& file)>;

// mixwalk compare and mixwalk report. Prints the findings; failures are reported. Returns ExitCode::stuck or deadlock
// if threads are stuck or deadlocked, and ExitCode::crash if a dump was written because of a crash.
ExitCode run(const HangCommand& command, const DumpFileServices& host);
// The same for dumps in memory, in the order of time. `origin`: what they are of, "process 4711 (orders.exe)".
ExitCode explain(const HangCommand& command, bool colour, std::vector<Snapshot> dumps, const std::string& origin,
                 Output& output);
// `open_dump` reads a minidump (read_dump_file). `colour`: whether text is coloured.
ExitCode run(const HangCommand& command, bool colour, const OpenDump& open_dump);

}  // namespace mixwalk
