#pragma once

#include "walker/base/exit_code.h"
#include "walker/base/failure.h"

namespace mixwalk {

// Prints "mixwalk: …" on standard error.
ExitCode print_failure(const Failure& failure);

}  // namespace mixwalk
