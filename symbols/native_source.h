#pragma once

#include <memory>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/pdb/pdb_finder.h"
#include "symbols/symbol_source.h"

namespace mixwalk {

// Opens everything that is known about an image's native code, as one source: its PDB or DWARF, the linker's symbols,
// the exports, and finally .pdata (NativeSymbols documents the order and the rules). Names are demangled completely. A
// function without any name is called "sub_1a2b0", after the RVA where it begins, so that two samples of one function
// have the same name, in every format and every recording of the same build. Code without unwind data and without a
// name has no symbol. Not frozen-safe; one thread at a time.
class NativeSources {
 public:
  // `files` reads files that images name (their PDB, their .gnu_debuglink). `path_files` reads the folders of `path`,
  // which the user named.
  NativeSources(ImageFiles& files, ImageFiles& path_files, SymbolPath path)
      : files_(files), pdbs_(files, path_files, std::move(path)) {}

  std::unique_ptr<SymbolSource> open(std::shared_ptr<const ImageFile> file);
  // Returns the symbols of the PDB alone, for an image whose file is missing; null if there is no PDB. No function is
  // called "sub_1a2b0" in this case.
  std::unique_ptr<SymbolSource> open_without_image(const LoadedImage& image);

  // The PDBs that were not found, for the images that were opened.
  const std::vector<MissingPdb>& missing() const noexcept { return pdbs_.missing(); }
  // Like PdbFinder::refused().
  const std::vector<std::string>& refused() const noexcept { return pdbs_.refused(); }

 private:
  ImageFiles& files_;
  PdbFinder pdbs_;
};

}  // namespace mixwalk
