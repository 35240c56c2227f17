#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/server/store_fetch.h"
#include "symbols/symbol_path.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Reads no file. It is used for the paths that images name if no path means a file of this machine.
class NoImageFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override { return std::nullopt; }
};

// The files of a target's images, on this machine or on symbol servers. Not frozen-safe; one thread at a time.
class DiskImages {
 public:
  // `local` reads the paths that the target names. It is LocalImageFiles, or NoImageFiles if the target ran on another
  // machine. `path_files` reads the folders of `path`. The user named these folders. `servers`: see fetched_image().
  DiskImages(ImageFiles& local, ImageFiles& path_files, SymbolPath path, StoreFetch* servers = nullptr)
      : local_(local), path_files_(path_files), path_(std::move(path)), servers_(servers) {}

  // The first file that is the loaded image, as its timestamp and its SizeOfImage show.
  std::optional<std::vector<std::byte>> image(const Module& module);
  // The same image from a symbol server, for a target whose memory does not have the image either.
  std::optional<std::vector<std::byte>> fetched_image(const Module& module);
  // Any other file that an image names. It is looked for at the path in the image, and otherwise by its name in the
  // folders; but a PDB only at that path.
  std::optional<std::vector<std::byte>> other(const std::string& path);

 private:
  ImageFiles& local_;
  ImageFiles& path_files_;
  SymbolPath path_;
  StoreFetch* servers_;
};

}  // namespace mixwalk
