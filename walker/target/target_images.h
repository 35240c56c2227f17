#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/step/memory_reader.h"
#include "walker/model/snapshot.h"
#include "walker/target/disk_images.h"

namespace mixwalk {

// The image files of a target, for the code that names its frames. An image's file is the one on this machine;
// otherwise a file that is built from the image in the target's memory; otherwise that of a symbol server; otherwise a
// file that only says which PDB belongs to the image. Not frozen-safe; one thread at a time.
class TargetImages final : public ImageFiles {
 public:
  struct Image {
    Module module;
    std::optional<CodeViewId> pdb;
  };
  // All arguments must outlive this object. Of two images with the same path, the first is used.
  TargetImages(DiskImages& disk, const MemoryReader& memory, const std::vector<Image>& images);

  // `path` is an image's path as the target's loader knows it, or that of another file that an image names.
  std::optional<std::vector<std::byte>> read(const std::string& path) override;

 private:
  DiskImages& disk_;
  const MemoryReader& memory_;
  std::map<std::string, const Image*, std::less<>> images_;
};

}  // namespace mixwalk
