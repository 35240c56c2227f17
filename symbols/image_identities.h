#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

// Finds the CodeView entries of images that were loaded. They are read from the images' files: some kilobytes of each
// file, once. Not frozen-safe; one thread at a time.
class ImageIdentities {
 public:
  // `files` reads the paths of images, and the folders of `path`, in which images are looked for as well.
  explicit ImageIdentities(ImageFiles& files, SymbolPath path = {}) : files_(files), path_(std::move(path)) {}

  // Returns nothing if no file that can be read is the image that was loaded (by timestamp and size), or if that image
  // has no CodeView entry.
  std::optional<CodeViewId> find(const LoadedImage& image);

 private:
  std::optional<CodeViewId> read(const LoadedImage& image);

  ImageFiles& files_;
  SymbolPath path_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::optional<CodeViewId>> known_;
};

}  // namespace mixwalk
