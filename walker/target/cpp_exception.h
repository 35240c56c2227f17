#pragma once

#include <optional>

#include "unmanaged/minidump/minidump.h"
#include "unmanaged/step/memory_reader.h"
#include "walker/model/crash.h"

namespace mixwalk {

// The C++ object that an exception throws, with its type, and for a std::exception its text if the memory has it.
// Returns nothing for other exceptions, and if the type cannot be read. MSVC's objects and those of GCC's libstdc++ are
// known. Nothing that is read is trusted. Not frozen-safe.
std::optional<CrashObject> cpp_exception(const MemoryReader& memory, const MinidumpException& exception);

}  // namespace mixwalk
