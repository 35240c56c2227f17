#pragma once

#include <cstdint>
#include <string>

#include "walker/base/failure.h"

namespace mixwalk {

// What a .NET runtime's refusal means, for the user. Pure, and portable; not frozen-safe.

// The answer to an attach: an HRESULT of the runtime's corerror.h, of its diagnostics port, of
// Windows' loader or of mixwalk.dll itself. `process`: "process 4711 (orders.exe)".
Failure attach_refusal(const std::string& process, std::uint32_t hresult);

// Why RequestProfilerDetach left mixwalk.dll where it is: one line, for a log.
std::string detach_refusal(std::uint32_t hresult);

}  // namespace mixwalk
