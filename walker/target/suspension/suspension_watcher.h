#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/base/failure.h"
#include "walker/session/win/target_watch.h"

namespace mixwalk {

// The hidden command by which mixwalk.exe starts itself as the watcher: "--suspension-watcher PROCESS LEDGER", two
// inherited handles in hexadecimal.
inline constexpr const char* kSuspensionWatcherCommand = "--suspension-watcher";

// Starts mixwalk.exe once more, as a watcher that waits for the end of this process and then resumes the threads that
// this process had suspended (suspension_ledger.h). So a thread of the target also runs again if TerminateProcess ends
// this process. The watcher has only these two handles, no job of ours ends it once it runs, and it ends with this
// process. `program`: the path of mixwalk.exe. `process_id`: the target's. Only the first call has an effect. Returns
// nothing if the watcher runs.
std::optional<Failure> watch_suspensions(const std::wstring& program, std::uint32_t process_id);

// Lets the watcher, which must run, continue `watch` when this process ends. So it also undoes what mixwalk.dll's
// thread has suspended, if no thread in the target can. Only the last call counts. Not thread-safe.
std::optional<Failure> watch_freezes(TargetWatch& watch);

// Runs that command, if these arguments (without the program) are it, and returns its exit code.
std::optional<int> run_suspension_watcher(const std::vector<std::string>& arguments);

}  // namespace mixwalk
