#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// A path in the form in which paths are compared: in lower case, with '\\' between folders.
std::string comparable_path(std::string_view path);

// The author of the code in a managed image.
enum class CodeOwner : std::uint8_t {
  unknown,  // the image has no file, or the program and .NET share one
  dotnet,   // .NET itself, or a package by the makers of .NET
  program,
};

// Knows the images of one process by their paths. Those in a folder of shared frameworks or in the runtime's own
// folder, and those with known names, belong to .NET. The program may publish .NET in its own folder. Pure.
class ManagedImages {
 public:
  // `runtime`: runtime_images() of the snapshot.
  ManagedImages(const Snapshot& snapshot, const std::vector<bool>& runtime);

  // `path` is that of a managed image, as the loader or the runtime knows it.
  CodeOwner owner_of(std::string_view path) const;

 private:
  std::string program_, program_stem_;  // the folder and the stem of the comparable path
  std::string runtime_folder_;          // empty if it is the program's folder, or if it is not known
  bool single_file_ = false;            // the runtime, or what takes its place, is in the program's own image
};

}  // namespace mixwalk
