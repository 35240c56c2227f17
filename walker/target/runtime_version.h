#pragma once

#include <span>

#include "unmanaged/step/memory_reader.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The .NET runtime among a target's images: coreclr.dll, a program that contains the runtime, or clr.dll. Its version
// is the image's ProductVersion, from the version resource. The name is empty if there is no runtime. `modules` need
// not be sorted. Nothing that is read is trusted. Not frozen-safe.
Runtime find_runtime(std::span<const Module> modules, const MemoryReader& memory);

}  // namespace mixwalk
