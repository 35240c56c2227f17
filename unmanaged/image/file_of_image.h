#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Rebuilds a file from an image that is loaded at `base`, as far as the memory has the image, for readers of image
// files when the file itself is missing. Code and constants are as they are in memory (relocated, and patched if the
// process was patched). The file has no writable sections, no COFF symbols, and nothing of a section behind its first
// unreadable page. It is no longer than the part of the image that is in memory. The result is empty if no x64 image is
// loaded at `base`. Not frozen-safe.
std::vector<std::byte> file_of_image(const MemoryReader& memory, std::uint64_t base);

}  // namespace mixwalk
