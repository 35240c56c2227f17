#pragma once

#include "walker/base/exit_code.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// mixwalk convert, on any system. Prints one line on standard error if an error occurred or the recording was cut
// off.
ExitCode run(const ConvertCommand& command);

}  // namespace mixwalk
