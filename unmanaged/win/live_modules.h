#pragma once

#include <cstdint>
#include <optional>

#include "unmanaged/image/module_table.h"
#include "unmanaged/win/image_unloads.h"

namespace mixwalk {

// The images loaded in this process now. Not frozen-safe (it allocates), but it takes no loader
// lock: the loader's list is read as another process would read it, so a target that hangs in the
// loader can be looked at. An image that unloads meanwhile is left out.
//
// `unloads`: one image may take another's place between the reading of its headers and of its path.
// Where it is null, an entry may then be of both.
//
// Nothing is read that the program has closed or guarded (plain_memory.h): such an image is listed as
// closed, and where that is so of its headers, without a timestamp.
ModuleTable read_live_modules(const ImageUnloads* unloads = nullptr);

// What tells the image that stands at `base` now from every other one: of its headers, as
// ModuleDetails::identity. Takes microseconds: another image may be loaded in its place at any time.
// 0: no image stands there. Nothing: its headers cannot be read without harm (a guard page, no
// access). Frozen-safe (plain_memory.h).
std::optional<std::uint64_t> live_identity(std::uint64_t base) noexcept;

}  // namespace mixwalk
