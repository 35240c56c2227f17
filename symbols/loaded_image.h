#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// An image as it was loaded.
struct LoadedImage {
  std::string path;  // UTF-8
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::optional<CodeViewId> code_view = std::nullopt;  // nothing if it has none, or none is known
};

}  // namespace mixwalk
