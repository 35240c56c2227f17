#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/coff_file.h"

namespace mixwalk {

// The file that contains an image's debug sections, named by the section .gnu_debuglink (GDB manual, "Debugging
// Information in Separate Files"). Not frozen-safe.
struct DebugLink {
  std::string_view name;  // a file name, no path
  std::uint32_t crc = 0;  // of the whole file
};

// Returns nothing if the file has no such section, a damaged one, or one whose name leads to another folder (a
// separator, a drive, ".."). A recording's images may come from anybody, and must not make us open arbitrary files.
std::optional<DebugLink> debug_link(const CoffFile& file);

// Returns where the file may lie: beside the image, and in ".debug" there. `image_path` is UTF-8, with '/' or '\'.
std::vector<std::string> debug_link_paths(std::string_view image_path, std::string_view name);

// Returns the CRC-32 of IEEE 802.3.
std::uint32_t crc32(std::span<const std::byte> bytes) noexcept;

}  // namespace mixwalk
