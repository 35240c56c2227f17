#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// A file rebuilt from an image that is loaded at `base`, as far as the memory has it: for readers of image files, where
// the file itself is missing. Code and constants are as they are in memory (relocated, and patched where the process
// was patched); the file has no writable sections, no COFF symbols, and nothing behind the first unreadable page of a
// section. Empty: no x64 image is loaded there. No longer than the part of the image that is in memory. Not
// frozen-safe.
std::vector<std::byte> file_of_image(const MemoryReader& memory, std::uint64_t base);

}  // namespace mixwalk
