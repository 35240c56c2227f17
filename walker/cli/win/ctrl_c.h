#pragma once

#include <windows.h>

namespace mixwalk {

// From the first call on, the first Ctrl-C or Ctrl-Break does not end this process, but sets the event that is
// returned; the second one is the system's own. Null: no event could be made, and Ctrl-C ends the process as ever.
HANDLE catch_ctrl_c() noexcept;

}  // namespace mixwalk
