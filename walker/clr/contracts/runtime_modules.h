#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/assembly.h"
#include "symbols/metadata/metadata_names.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk {

// The modules of a runtime: their metadata, and which assemblies they are. A module is named by the address of the
// runtime's Module. Answers are kept. Not frozen-safe; one thread at a time.
//
// Source: docs/design/datacontracts/Loader.md and EcmaMetadata.md of the runtime, public.
class RuntimeModules {
 public:
  explicit RuntimeModules(const RuntimeReader& reader) : reader_(reader) {}

  // Returns null if the metadata is not in memory. A module that the program made while it ran has its metadata in a
  // buffer of the runtime, and no image.
  const MetadataNames* metadata_of(std::uint64_t module);
  // Returns null if it is not known which build the module is.
  const Assembly* assembly_of(std::uint64_t module);
  // The path from which the runtime has loaded the module; empty if it has none, or is unknown.
  std::string path_of(std::uint64_t module) const;

  // The files of the modules that were asked for and whose metadata is not in memory. Sorted.
  std::vector<std::string> without_metadata() const;

  // Forgets everything, since the target has run.
  void clear() {
    metadata_.clear();
    assemblies_.clear();
  }

 private:
  std::optional<MetadataNames> read_metadata(std::uint64_t module) const;

  const RuntimeReader& reader_;
  std::unordered_map<std::uint64_t, std::optional<MetadataNames>> metadata_;
  std::unordered_map<std::uint64_t, std::optional<Assembly>> assemblies_;
};

}  // namespace mixwalk
