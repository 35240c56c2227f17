#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// An image file in memory, parsed. Several sources of symbols share it. Immutable; it must not be moved once `image`
// refers to `bytes`.
struct ImageFile {
  ImageFile(std::string file_path, std::vector<std::byte> contents)
      : path(std::move(file_path)), bytes(std::move(contents)), image(PeImage::parse(bytes)) {}
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  const std::string path;  // UTF-8
  const std::vector<std::byte> bytes;
  const PeImage image;
};

}  // namespace mixwalk
