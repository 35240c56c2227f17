#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// An export of the runtime of .NET 6 and later. A program that was published as a single file also exports it, because
// such a program's own image contains the runtime.
inline constexpr std::string_view kRuntimeInSingleFile = "DotNetRuntimeInfo";
// An export of the runtime of NativeAOT, for debuggers. The program's own image has it, and no kRuntimeInSingleFile.
inline constexpr std::string_view kNativeAotRuntime = "DotNetRuntimeDebugHeader";
// An image with the ReadyToRun code of several assemblies (a composite image) has no CLI header: the runtime finds the
// code by this export.
inline constexpr std::string_view kCompositeReadyToRun = "RTR_HEADER";

// Returns whether the image that is loaded at `base` exports the name; false if the image cannot be read. Frozen-safe;
// nothing that is read is trusted.
bool exports_name(const MemoryReader& memory, std::uint64_t base, std::string_view name) noexcept;
// Returns the RVA of the export with that name, or nothing if there is no such export. The RVA is not checked.
// Everything else is as for exports_name.
std::optional<std::uint32_t> export_rva(const MemoryReader& memory, std::uint64_t base,
                                        std::string_view name) noexcept;

}  // namespace mixwalk
