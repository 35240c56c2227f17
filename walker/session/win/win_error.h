#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// The system's text for an error, in one line without the full stop, or the error's number if the system has no text.
std::string error_text(DWORD error);
inline std::string last_error() { return error_text(GetLastError()); }
// The same for an error of LoadLibrary or CreateProcess. If Windows refused the file for a known reason, the text is
// that reason and what the user can do (image_refusal.h). `files`: what the user has to sign or to allow.
std::string image_error_text(DWORD error, const std::string& files);

}  // namespace mixwalk
