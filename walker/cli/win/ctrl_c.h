#pragma once

#include <windows.h>

namespace mixwalk {

// From the first call on, the first Ctrl-C or Ctrl-Break does not end this process, but sets the event that is
// returned. The second one ends the process, as is usual on Windows. Returns null if no event could be created; the
// first Ctrl-C then ends the process as usual.
HANDLE catch_ctrl_c() noexcept;

}  // namespace mixwalk
