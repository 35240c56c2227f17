#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/image/module_table.h"
#include "unmanaged/win/image_unloads.h"

namespace mixwalk {

// The images loaded in this process now. Not frozen-safe (it allocates), but it takes no loader lock (loader_list.h).
// An image that is unloaded meanwhile is left out.
//
// `unloads`: detects that one image took another's place between the reading of its headers and of its path. Where it
// is null, an entry may have the headers of one and the path of the other.
//
// Memory that the program has closed or guarded is not read (plain_memory.h): such an image is listed as closed, and
// without a timestamp where its headers are closed.
ModuleTable read_live_modules(const ImageUnloads* unloads = nullptr);

// A number that distinguishes the image at `base` from every other image, computed from its headers like
// ModuleDetails::identity. Takes microseconds: another image may be loaded in its place at any time. 0: no image is
// loaded there. Nothing: its headers cannot be read without harm (a guard page, no access). Frozen-safe
// (plain_memory.h).
std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept;

// Whether the headers of the image at `base` say that it contains managed code. False where its headers cannot be read.
// Frozen-safe (plain_memory.h).
bool has_managed_header(std::uint64_t base) noexcept;

}  // namespace mixwalk
