#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// Attaches to a process from the test itself, like mixwalk.exe without its command line. `dll` is in the test's folder.
// `pipe_buffer`: as for create_pipe(). Throws on failure, which makes the test fail.
TargetSession attach_to(std::uint32_t process_id, const std::string& dll = "mixwalk.dll",
                        std::uint32_t timeout_ms = 30'000, DWORD pipe_buffer = kPipeBuffer);

// Makes a dump with names, as mixwalk.exe would print it.
Snapshot dump_named(TargetSession& session, const DumpRequest& request);
void name_native_frames(Snapshot& snapshot);

// Returns the thread with that id or name; throws if there is none.
const Thread& thread_of(const Snapshot& snapshot, std::uint32_t os_id);
const Thread& thread_named(const Snapshot& snapshot, const std::string& name);

// Returns the threads whose names begin with `name`.
std::vector<const Thread*> threads_that_begin(const Snapshot& snapshot, std::string_view name);

// Returns one line per frame, for messages of failed tests.
std::string to_text(const Snapshot& snapshot, const Thread& thread);

// Whether every run of the stack is closed, except the last one, which ends at the thread's root.
bool all_runs_closed(const Stack& stack);

}  // namespace mixwalk
