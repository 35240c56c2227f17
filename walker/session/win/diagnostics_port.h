#pragma once

#include <windows.h>

#include <string>

#include "walker/session/diagnostics_ipc.h"
#include "walker/session/failure.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// One request to a process's .NET diagnostics port, and its reply. Nothing is said to a pipe of
// that name which another process serves: ExitCode::not_dotnet. `process`: ends the wait when it
// ends; may be null.
Outcome<IpcReply> ask_diagnostics_port(std::uint32_t process_id, HANDLE process,
                                       const std::string& request, const Deadline& deadline);

}  // namespace mixwalk
