#pragma once

#include <string>

#include "walker/cli/options.h"
#include "walker/session/win/dump_session.h"

namespace mixwalk {

// Goes to the process that the command line names: attaches, or starts it and waits for `after_ms`.
Outcome<DumpSession> visit(const TargetChoice& target, std::uint32_t timeout_ms);

// What the command line says of how threads are walked, as it goes over the pipe.
DumpRequest sampling_request(const Sampling& sampling);

}  // namespace mixwalk
