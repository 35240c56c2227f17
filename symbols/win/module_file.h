#pragma once

#include <string>

#include "symbols/win/profiling_api.h"

namespace mixwalk {

// The file that a module of the runtime came from, UTF-16. For a module without a file, the name in its metadata; empty
// where the runtime refuses. Not frozen-safe.
std::wstring module_file(clr::ICorProfilerInfo3& info, clr::ModuleID module);

}  // namespace mixwalk
