#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "symbols/assembly.h"
#include "symbols/image_files.h"
#include "symbols/pdb/pdb_finder.h"

namespace mixwalk {

// The lines of managed code, from the portable PDBs of assemblies: each is opened once, when one of its
// methods is first asked for. Not frozen-safe; one thread at a time.
class ManagedLines {
 public:
  // As of PdbFinder: `files` for the paths of assemblies, `path_files` for the folders of `path`.
  ManagedLines(ImageFiles& files, ImageFiles& path_files, SymbolPath path)
      : files_(files), pdbs_(files, path_files, std::move(path)) {}

  // The place of an IL offset of a method (MethodDef token). Nothing: it has no line, or there is no PDB, or
  // another build of the assembly lies there now.
  std::optional<ManagedPlace> find(const Assembly& assembly, std::uint32_t method, std::uint32_t il_offset);

  // The PDBs that were not found, of the assemblies that were asked for.
  const std::vector<MissingPdb>& missing() const noexcept { return pdbs_.missing(); }

 private:
  std::unique_ptr<const PortablePdb> open(const Assembly& assembly);

  struct Opened {
    std::unique_ptr<const PortablePdb> pdb;  // null: none
    // By method and offset: the frames of a recursion stand at few places, and each look-up reads all lines
    // of the method up to its own.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<ManagedPlace>> places;
  };

  ImageFiles& files_;
  PdbFinder pdbs_;
  std::map<Assembly, Opened> opened_;
};

}  // namespace mixwalk
