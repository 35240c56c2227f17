#pragma once

#include <windows.h>

#include <string>

#include "walker/base/failure.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// Sends one request to a process's .NET diagnostics port, and returns the reply. If another process serves the pipe of
// that name, nothing is sent, and the failure is ExitCode::not_dotnet. `process`: the wait ends when this process ends;
// may be null.
Outcome<IpcReply> ask_diagnostics_port(std::uint32_t process_id, HANDLE process,
                                       const std::string& request, const Deadline& deadline);

}  // namespace mixwalk
