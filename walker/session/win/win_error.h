#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// The system's text for an error, in one line without the full stop, or the error's number if the system has no text.
std::string error_text(DWORD error);
inline std::string last_error() { return error_text(GetLastError()); }

}  // namespace mixwalk
