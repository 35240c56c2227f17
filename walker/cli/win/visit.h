#pragma once

#include <string>

#include "walker/cli/options.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// Goes to the process that the command line names: attaches, or starts it and waits for `after_ms`.
// A thread id that the process does not have is a failure, and nothing is attached then; but a
// program that is recorded from its start has its threads later.
Outcome<TargetSession> visit(const Visit& visit);

// Tells of every thread that the process has now. Its name is the one that Windows knows: .NET
// Framework gives it none.
void meet_threads_of(std::uint32_t process_id, UnmatchedThreads& unmatched);

// The command line's options about walking threads, in the form that goes over the pipe. Threads that are
// named, rather than numbered, are not in it.
DumpRequest sampling_request(const Sampling& sampling);

}  // namespace mixwalk
