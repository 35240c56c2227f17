#pragma once

#include <windows.h>

namespace mixwalk {

// From the first call on, the first Ctrl-C or Ctrl-Break does not end this process, but sets the event that is
// returned. The second one ends the process, as the system has it. Returns null if no event could be created, and the
// first Ctrl-C ends the process as usual.
HANDLE catch_ctrl_c() noexcept;

}  // namespace mixwalk
