#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/image/module_table.h"
#include "unmanaged/win/image_unloads.h"

namespace mixwalk {

// The images loaded in this process now. Not frozen-safe (it allocates), but it takes no loader
// lock (loader_list.h). An image that unloads meanwhile is left out.
//
// `unloads`: one image may take another's place between the reading of its headers and of its path.
// Where it is null, an entry may then be of both.
//
// Nothing is read that the program has closed or guarded (plain_memory.h): such an image is listed as
// closed, and where that is so of its headers, without a timestamp.
ModuleTable read_live_modules(const ImageUnloads* unloads = nullptr);

// A number that tells the image at `base` from every other image, made of its headers, as
// ModuleDetails::identity is. Takes microseconds: another image may be loaded in its place at any time.
// 0: no image stands there. Nothing: its headers cannot be read without harm (a guard page, no
// access). Frozen-safe (plain_memory.h).
std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept;

// Whether the headers of the image at `base` say that it holds managed code. False where its headers
// cannot be read. Frozen-safe (plain_memory.h).
bool has_managed_header(std::uint64_t base) noexcept;

}  // namespace mixwalk
