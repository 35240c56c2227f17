#pragma once

#include "walker/cli/exit_code.h"
#include "walker/session/failure.h"

namespace mixwalk {

// "mixwalk: …" on standard error.
ExitCode report(const Failure& failure);

}  // namespace mixwalk
