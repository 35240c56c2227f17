#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mixwalk {

// The meaning of Windows' refusal to load a DLL or to start a program, for the user. Pure, and portable; not
// frozen-safe.

// The Win32 error in what the loader of Windows, or a runtime that called it, reports: an HRESULT of a Win32 error, or
// an NTSTATUS, plain or as an HRESULT. Returns nothing for any other code, and for statuses that refuse no image.
std::optional<std::uint32_t> loader_error_in(std::uint32_t code);

// Why Windows refuses the file, and what the user can do, in one line without a full stop. `files`: the files that the
// user has to sign or to allow, such as "mixwalk.exe and mixwalk.dll". Returns nothing if the Win32 error is no such
// refusal.
std::optional<std::string> image_refusal(std::uint32_t error, const std::string& files);

}  // namespace mixwalk
