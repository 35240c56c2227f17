#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Whose code a managed image has.
enum class CodeOwner : std::uint8_t {
  unknown,  // it has no file, or the program and .NET share one
  dotnet,   // .NET's, or that of a package of .NET's makers
  program,
};

// Knows the images of one process by their paths: those in a folder of shared frameworks or in the runtime's own folder,
// and those whose names are known. The program may publish .NET in its own folder. Pure.
class ManagedImages {
 public:
  explicit ManagedImages(const Snapshot& snapshot);

  // `path`: of a managed image, as the loader or the runtime knows it.
  CodeOwner owner_of(std::string_view path) const;

 private:
  std::string program_, program_stem_;  // in lower case, with '\\'
  std::string runtime_folder_;          // empty: it is that of the program, or is not known
  bool single_file_ = false;            // the runtime is in the program's own image
};

}  // namespace mixwalk
