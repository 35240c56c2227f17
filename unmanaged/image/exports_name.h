#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The runtime of .NET 6 and later exports this name in a program that was published as a single file, which has the
// runtime in its own image.
inline constexpr std::string_view kRuntimeInSingleFile = "DotNetRuntimeInfo";
// An image with the ReadyToRun code of several assemblies (a composite one) has no CLI header: the
// runtime finds the code by this export.
inline constexpr std::string_view kCompositeReadyToRun = "RTR_HEADER";

// Whether the image that is loaded at `base` exports the name. Frozen-safe; nothing that is read is trusted. Also false
// where the image cannot be read.
bool exports_name(const MemoryReader& memory, std::uint64_t base, std::string_view name) noexcept;
// The RVA, which is not checked, of the export with that name. Nothing: there is no such export. Otherwise like
// exports_name.
std::optional<std::uint32_t> export_rva(const MemoryReader& memory, std::uint64_t base,
                                        std::string_view name) noexcept;

}  // namespace mixwalk
