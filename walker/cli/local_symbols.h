#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/image_identities.h"
#include "symbols/managed_lines.h"
#include "symbols/native_source.h"
#include "symbols/symboliser.h"

namespace mixwalk {

// The symbols of this machine: those of images, assemblies, PDBs and debug files on its drives, and in the folders that
// the user names. Not frozen-safe; one thread at a time.
class LocalSymbols {
 public:
  // `symbol_path`: the value of --symbol-path; none means the environment variable _NT_SYMBOL_PATH.
  explicit LocalSymbols(const std::optional<std::string>& symbol_path);

  Symboliser& symboliser() noexcept { return symboliser_; }
  ManagedLines& lines() noexcept { return lines_; }
  ImageIdentities& identities() noexcept { return identities_; }

  // The PDBs that were not found so far, native and portable; sorted, each once.
  std::vector<MissingPdb> missing() const;
  // As PdbFinder::refused(), native and portable.
  std::vector<std::string> refused() const;

 private:
  explicit LocalSymbols(const SymbolPath& path);

  DiskImageFiles disk_;
  LocalImageFiles files_;
  NativeSources sources_;
  Symboliser symboliser_;
  ManagedLines lines_;
  ImageIdentities identities_;
};

// The PDBs that neither found so far; sorted, each once.
std::vector<MissingPdb> missing_of(const NativeSources& native, const ManagedLines& managed);

// For people: "name,GUIDage,1" per line, as symchk /im reads it; names that come from the target are made printable. Of
// a very long list only the first entries.
std::string manifest_text(const std::vector<MissingPdb>& missing);
// For a log: how many PDBs were not found, and their lines. For at least one PDB.
std::string missing_text(const std::vector<MissingPdb>& missing);

}  // namespace mixwalk
