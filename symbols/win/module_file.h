#pragma once

#include <string>

#include "symbols/win/profiling_api.h"

namespace mixwalk {

// Returns the file from which a module of the runtime was loaded, UTF-16. For a module without a file, returns the name
// in its metadata. The result is empty if the runtime refuses to answer. Not frozen-safe.
std::wstring module_file(clr::ICorProfilerInfo3& info, clr::ModuleID module);

}  // namespace mixwalk
