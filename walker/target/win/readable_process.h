#pragma once

#include <windows.h>

#include <cstdint>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"

namespace mixwalk {

// Opens an x64 process, .NET or not, to read it from outside. `access` must include PROCESS_QUERY_INFORMATION.
Outcome<UniqueHandle> open_readable(DWORD access, std::uint32_t process_id);

}  // namespace mixwalk
