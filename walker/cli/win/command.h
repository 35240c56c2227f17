#pragma once

#include "walker/cli/exit_code.h"
#include "walker/cli/options.h"
#include "walker/session/failure.h"

namespace mixwalk {

// The commands of mixwalk.exe. Each prints its result, or one line on standard error.
ExitCode run(const PsCommand& command);
ExitCode run(const DumpCommand& command);

// "mixwalk: …" on standard error.
ExitCode report(const Failure& failure);

}  // namespace mixwalk
