#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/assembly.h"
#include "symbols/metadata/metadata_names.h"
#include "unmanaged/step/byte_memory.h"
#include "walker/clr/contracts/runtime_reader.h"
#include "walker/target/target.h"

namespace mixwalk {

// A file of this machine as memory.
struct FileMemory {
  explicit FileMemory(std::vector<std::byte> file) : bytes(std::move(file)) {}
  std::vector<std::byte> bytes;
  ByteMemory memory{bytes};
};

// The modules of a runtime: their metadata, and which assemblies they are. A module is named by the address of the
// runtime's Module. Answers are kept. Not frozen-safe; one thread at a time.
//
// Source: docs/design/datacontracts/Loader.md and EcmaMetadata.md of the runtime, public.
class RuntimeModules {
 public:
  // `target`: has the files of images that are not in memory; may be null.
  explicit RuntimeModules(const RuntimeReader& reader, const Target* target = nullptr)
      : reader_(reader), target_(target) {}

  // Returns null if the metadata is neither in memory nor in the file of the image. A module that the program made
  // while it ran has its metadata in a buffer of the runtime, and no image.
  const MetadataNames* metadata_of(std::uint64_t module);
  // Returns null if it is not known which build the module is. The id of the PDB is that of the image in memory: a file
  // may be missing on this machine, and an assembly that the program has loaded from bytes has none.
  const Assembly* assembly_of(std::uint64_t module);
  // The path from which the runtime has loaded the module; empty if it has none, or is unknown.
  std::string path_of(std::uint64_t module) const;

  // The files of the modules that were asked for and whose metadata was not found. Sorted.
  std::vector<std::string> without_metadata() const;

  // Forgets everything, since the target has run.
  void clear() {
    metadata_.clear();
    assemblies_.clear();
  }

 private:
  struct Metadata {
    std::shared_ptr<const FileMemory> file;  // what the names are read from, if it is not the target's memory
    std::optional<MetadataNames> names;
  };
  Metadata read_metadata(std::uint64_t module) const;
  Metadata read_file(std::uint64_t image_base) const;

  const RuntimeReader& reader_;
  const Target* target_;
  std::unordered_map<std::uint64_t, Metadata> metadata_;
  std::unordered_map<std::uint64_t, std::optional<Assembly>> assemblies_;
};

}  // namespace mixwalk
