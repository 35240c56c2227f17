#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/pdb/pdb_symbols.h"
#include "symbols/portable_pdb/portable_pdb.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

// Finds the PDBs of images on this machine, and lists those that are missing. Not frozen-safe; one thread at a time.
class PdbFinder {
 public:
  // `files`: for the paths that images name; in mixwalk.exe LocalImageFiles, never a reader that opens any path.
  // `path_files`: for the folders of `path`, which the user named.
  PdbFinder(ImageFiles& files, ImageFiles& path_files, SymbolPath path)
      : files_(files), path_files_(path_files), path_(std::move(path)) {}

  // The first file that is the image's own. Without such a file: the error of a file that was found and is not the
  // image's own, or PdbError::missing; the PDB is then listed by missing().
  OpenedPdb open(const std::shared_ptr<const ImageFile>& image);
  // The same of an image whose file is not there.
  OpenedPdb open(const LoadedImage& image);
  // Like open(), for managed code; a PDB embedded in the image comes first. `image_path`, `image`: the DLL, 32-bit or
  // 64-bit.
  PortablePdb::Opened open_portable(const std::string& image_path, std::span<const std::byte> image);

  // The same for an assembly whose file is missing; `id`: its CodeView entry.
  PortablePdb::Opened open_portable(const std::string& image_path, const CodeViewId& id);

  const std::vector<MissingPdb>& missing() const noexcept { return missing_; }
  // Files at places where a PDB belongs that are not the image's: each once, one line, no full stop.
  const std::vector<std::string>& refused() const noexcept { return refused_; }

 private:
  // The files at the candidates, one after the other, until `use` is content with one.
  template <class Use>
  void each_candidate(const std::string& image_path, const CodeViewId& id, Use use);
  // `open`: of a file's bytes.
  template <class Opened, class Open>
  Opened open_first(const std::string& image_path, const CodeViewId& id, Opened opened, Open open);
  void add_missing(const CodeViewId& id);
  void add_refused(const std::string& path, std::string_view why);

  ImageFiles& files_;
  ImageFiles& path_files_;
  SymbolPath path_;
  std::vector<MissingPdb> missing_;
  std::vector<std::string> refused_;
};

}  // namespace mixwalk
