#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

// The CodeView entries of images that were loaded, read from their files: some kilobytes of each file, once. Not
// frozen-safe; one thread at a time.
class ImageIdentities {
 public:
  // `files`: for the paths of images, and for the folders of `path`, where images are looked for as well.
  explicit ImageIdentities(ImageFiles& files, SymbolPath path = {}) : files_(files), path_(std::move(path)) {}

  // Nothing: no file that can be read is the image that was loaded (by timestamp and size), or it has no entry.
  std::optional<CodeViewId> find(const LoadedImage& image);

 private:
  std::optional<CodeViewId> read(const LoadedImage& image);

  ImageFiles& files_;
  SymbolPath path_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::optional<CodeViewId>> known_;
};

}  // namespace mixwalk
