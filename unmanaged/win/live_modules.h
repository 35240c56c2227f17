#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/image/module_table.h"
#include "unmanaged/win/image_unloads.h"

namespace mixwalk {

// The images loaded in this process now. Not frozen-safe (it allocates), but it takes no loader lock (loader_list.h).
// An image that is unloaded meanwhile is left out.
//
// `unloads` detects that one image took another's place between the reading of its headers and of its path. If it is
// null, an entry may have the headers of one image and the path of the other.
//
// Memory that the program has closed or guarded is not read (plain_memory.h). An image with such pages in its code or
// .pdata is listed as closed, and without a timestamp if its headers are closed. Such pages of an image's constants are
// listed (ModuleSpan::shut).
ModuleTable read_live_modules(const ImageUnloads* unloads = nullptr);

// Returns a number that distinguishes the image at `base` from every other image, computed from its headers like
// ModuleDetails::identity. Returns 0 if no image is loaded there, and nothing if its headers cannot be read without
// harm (a guard page, no access). Takes microseconds: another image may be loaded in its place at any time. Frozen-safe
// (plain_memory.h).
std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept;

// Returns whether the headers of the image at `base` say that it contains managed code; false if its headers cannot be
// read. Frozen-safe (plain_memory.h).
bool has_managed_header(std::uint64_t base) noexcept;

}  // namespace mixwalk
