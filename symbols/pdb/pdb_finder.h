#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/loaded_image.h"
#include "symbols/pdb/pdb_symbols.h"
#include "symbols/portable_pdb/portable_pdb.h"
#include "symbols/server/store_fetch.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

// Finds the PDBs of images on this machine, or else on symbol servers, and lists those that are missing. Not
// frozen-safe; one thread at a time.
class PdbFinder {
 public:
  // `files` reads the paths that images name; in mixwalk.exe it is LocalImageFiles, never a reader that opens any path.
  // `path_files` reads the folders of `path`. The user named these folders. `servers` loads what is not there; null: no
  // server is asked.
  PdbFinder(ImageFiles& files, ImageFiles& path_files, SymbolPath path, StoreFetch* servers = nullptr)
      : files_(files), path_files_(path_files), path_(std::move(path)), servers_(servers) {}

  // Opens the first file that is the image's own PDB. If there is none, the result has the error of a file that was
  // found and is not the image's own, or PdbError::missing; the PDB is then listed by missing().
  OpenedPdb open(const std::shared_ptr<const ImageFile>& image);
  // Does the same for an image whose file is not there.
  OpenedPdb open(const LoadedImage& image);
  // Like open(), for managed code; a PDB embedded in the image comes first. `image_path` and `image` are those of the
  // DLL, 32-bit or 64-bit.
  PortablePdb::Opened open_portable(const std::string& image_path, std::span<const std::byte> image);

  // Does the same for an assembly whose file is missing, or that is not read as a whole; `id` is its CodeView entry.
  PortablePdb::Opened open_portable(const std::string& image_path, const CodeViewId& id,
                                    std::span<const PdbChecksum> checksums = {});

  const std::vector<MissingPdb>& missing() const noexcept { return missing_; }
  // The files that lie where a PDB belongs and are not used, and the PDBs that are used but lack most symbols: each
  // once, as one line without a full stop.
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  // Reads the files at the candidates, one after the other, until `use` accepts one.
  template <class Use>
  void each_candidate(const std::string& image_path, const CodeViewId& id, Use use);
  // `open` takes a file's bytes.
  template <class Opened, class Open>
  Opened open_first(const std::string& image_path, const CodeViewId& id, Opened opened, Open open,
                    std::string checksums = {});
  // Asks the servers. Returns whether `opened` has symbols.
  template <class Opened, class Open>
  bool open_fetched(const CodeViewId& id, Opened& opened, Open open, std::string checksums);
  // Notes what a PDB lacks that is used.
  template <class Opened>
  void add_lacks(const std::string& path, const Opened& opened);
  void add_missing(const CodeViewId& id);
  void add_problem(std::string text);

  ImageFiles& files_;
  ImageFiles& path_files_;
  SymbolPath path_;
  StoreFetch* servers_;
  std::vector<MissingPdb> missing_;
  std::vector<std::string> problems_;
};

}  // namespace mixwalk
