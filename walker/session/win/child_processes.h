#pragma once

#include <windows.h>

#include <vector>

#include "walker/session/launched_children.h"

namespace mixwalk {

// The processes of .NET, and those of 32 bits, that this process, or one of its children, has started, and that run
// now. The process may have ended. `process` needs PROCESS_QUERY_LIMITED_INFORMATION.
std::vector<LaunchedChild> launched_by(HANDLE process);

}  // namespace mixwalk
