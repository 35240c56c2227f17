#pragma once

#include <cstdint>
#include <string>

#include "walker/base/failure.h"

namespace mixwalk {

// The meaning of a .NET runtime's refusal, for the user. Pure, and portable; not frozen-safe.

// The meaning of the answer to an attach. It is an HRESULT of the runtime's corerror.h, of its diagnostics port, of
// Windows' loader or of mixwalk.dll itself. `process`: "process 4711 (orders.exe)".
Failure attach_refusal(const std::string& process, std::uint32_t hresult);

// The failure of an attach to a process that has a profiler (ExitCode::already_profiled), with what to do.
// `by_mixwalk`: whether that profiler is mixwalk.dll, of another visit. `waited`: whether --wait was given.
Failure occupied(Failure refusal, const std::string& process, bool by_mixwalk, bool waited);

// Returns why mixwalk.dll is still loaded after RequestProfilerDetach, in one line, for a log.
std::string detach_refusal(std::uint32_t hresult);

}  // namespace mixwalk
