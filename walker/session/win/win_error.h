#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// The system's text for an error, one line, without the full stop; the error's number where there is no text.
std::string error_text(DWORD error);
inline std::string last_error() { return error_text(GetLastError()); }

}  // namespace mixwalk
