#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The file of an image that is loaded at `base`, as far as the memory has it: for readers of image files, where the
// file itself is missing. Its code and its constants are as they are in memory (relocated, and patched where the
// process was); it has no sections that are written to, no COFF symbols, and nothing behind the first page of a
// section that cannot be read. Empty: no x64 image stands there. No longer than what the memory has of the image.
// Not frozen-safe.
std::vector<std::byte> file_of_image(const MemoryReader& memory, std::uint64_t base);

}  // namespace mixwalk
