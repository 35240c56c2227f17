#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// Makes a file for an x64 image of which only the arguments are known. The file has no code, no exports and no unwind
// data, but readers of image files find in it the image's size, its timestamp and which PDB belongs to it. Not
// frozen-safe.
std::vector<std::byte> image_outline(std::uint32_t size_of_image, std::uint32_t timestamp,
                                     const std::optional<CodeViewId>& pdb);

}  // namespace mixwalk
