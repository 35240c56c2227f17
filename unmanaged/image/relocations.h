#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {

inline constexpr unsigned kRelocationTable = 5;  // the number of the directory (IMAGE_DIRECTORY_ENTRY_BASERELOC)

// Changes the absolute addresses in an image's file as the loader does if the image is at `base` and not at its
// preferred base. `file` has the bytes from which `image` was parsed, `table` is the image's directory of relocations.
// Nothing is trusted: what lies outside the file's sections is left out. Not frozen-safe. (Microsoft PE and COFF
// specification, "The .reloc Section". x64 images have only 64-bit addresses.)
void relocate(std::span<std::byte> file, const PeImage& image, const ImageHeaders::Directory& table,
              std::uint64_t base) noexcept;

}  // namespace mixwalk
