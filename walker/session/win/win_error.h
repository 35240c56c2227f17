#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// What the system says of an error, one line, without the full stop; its number where it says
// nothing.
std::string error_text(DWORD error);
inline std::string last_error() { return error_text(GetLastError()); }

}  // namespace mixwalk
