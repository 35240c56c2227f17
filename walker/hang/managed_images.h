#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// A path as it is compared: in lower case, with '\\' between folders.
std::string comparable_path(std::string_view path);

// Whose code a managed image has.
enum class CodeOwner : std::uint8_t {
  unknown,  // it has no file, or the program and .NET share one
  dotnet,   // .NET's, or that of a package of .NET's makers
  program,
};

// Knows the images of one process by their paths: those in a folder of shared frameworks or in the runtime's own
// folder, and those whose names are known. The program may publish .NET in its own folder. Pure.
class ManagedImages {
 public:
  // `runtime`: runtime_images() of the snapshot.
  ManagedImages(const Snapshot& snapshot, const std::vector<bool>& runtime);

  // `path`: of a managed image, as the loader or the runtime knows it.
  CodeOwner owner_of(std::string_view path) const;

 private:
  std::string program_, program_stem_;  // of the comparable path
  std::string runtime_folder_;          // empty if it is that of the program, or is not known
  bool single_file_ = false;            // the runtime is in the program's own image
};

}  // namespace mixwalk
