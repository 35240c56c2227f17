#pragma once

#include <cstdint>
#include <string>

#include "walker/cli/options/options.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// The process that the command line means, .NET or not. Fails for a program that is yet to be started.
Outcome<std::uint32_t> process_of(const TargetChoice& choice);

// Connects to the process that the command line names: attaches to it, or starts it and waits for `after_ms`. If the
// process does not have a given thread id, the visit fails and nothing is attached. This does not apply to a program
// that is recorded from its start, which gets its threads later.
Outcome<TargetSession> visit(const Visit& visit);

// If other software has patched system calls of the process, this ensures that the threads that mixwalk.dll freezes run
// again, even if mixwalk.exe is ended meanwhile. Otherwise mixwalk.dll itself does so. To be called before a dump or a
// recording, after TargetSession::greet(), and again if patches may have been found since. If there is no watcher, -v
// says why.
void watch_freezes_of(TargetSession& session, std::uint32_t deadline_ms);

// Passes every thread that the process has now to `unmatched`. The threads' names are those that Windows knows; .NET
// Framework does not give its threads such names.
void meet_threads_of(std::uint32_t process_id, UnmatchedThreads& unmatched);

// The command line's options about walking threads, in the form that is sent over the pipe. It contains only threads
// that are given by number, not those that are given by name.
DumpRequest sampling_request(const Sampling& sampling);

}  // namespace mixwalk
