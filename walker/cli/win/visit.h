#pragma once

#include <string>

#include "walker/cli/options.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// Connects to the process that the command line names: attaches to it, or starts it and waits for `after_ms`. A thread
// id that the process does not have is a failure, and then nothing is attached; a program that is recorded from its
// start, however, gets its threads later.
Outcome<TargetSession> visit(const Visit& visit);

// Passes every thread that the process has now to `unmatched`. The threads' names are those that Windows knows: .NET
// Framework gives its threads none.
void meet_threads_of(std::uint32_t process_id, UnmatchedThreads& unmatched);

// The command line's options about walking threads, in the form that is sent over the pipe. Only threads that are given
// by number are in it, not those that are given by name.
DumpRequest sampling_request(const Sampling& sampling);

}  // namespace mixwalk
