#pragma once

#include "walker/base/exit_code.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// The commands of mixwalk.exe that read processes. Each prints its result, or one line on standard error.
ExitCode run(const PsCommand& command);
ExitCode run(const DumpCommand& command);
ExitCode run(const MinidumpCommand& command);
ExitCode run(const RecordCommand& command);
ExitCode run(const ReportProcessCommand& command);
ExitCode run(const DoctorCommand& command);

}  // namespace mixwalk
