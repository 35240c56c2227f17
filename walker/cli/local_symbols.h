#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/image_identities.h"
#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"

namespace mixwalk {

// The text of the symbol path: the value of --symbol-path, or else the environment variable _NT_SYMBOL_PATH. Empty if
// neither is given.
std::string symbol_path_text(const std::optional<std::string>& given);

// Prints a line for each folder of a given --symbol-path in which nothing can be found: it does not exist, or is on
// another machine. Nothing for the environment variable, which is not of this command; mixwalk doctor checks it.
void say_missing_folders(const std::optional<std::string>& given);

// The symbols of this machine: those of images, assemblies, PDBs and debug files on its drives, and in the folders that
// the user names. Not frozen-safe; one thread at a time.
class LocalSymbols {
 public:
  // `symbol_path`: the value of --symbol-path. If it has no value, the environment variable _NT_SYMBOL_PATH is used.
  explicit LocalSymbols(const std::optional<std::string>& symbol_path);

  Symboliser& symboliser() noexcept { return symboliser_; }
  ManagedLines& lines() noexcept { return lines_; }
  ImageIdentities& identities() noexcept { return identities_; }

  // The PDBs that were not found so far, native and portable; sorted, each once.
  std::vector<MissingPdb> missing() const;
  // See problems_of().
  std::vector<std::string> problems() const;

 private:
  explicit LocalSymbols(const SymbolPath& path);

  DiskImageFiles disk_;
  LocalImageFiles files_;
  Symboliser symboliser_;
  ManagedLines lines_;
  ImageIdentities identities_;
};

// The PDBs that neither of the two found so far; sorted, each once.
std::vector<MissingPdb> missing_of(const Symboliser& native, const ManagedLines& managed);

// What a person should know about the symbol files that the two met: which are not used, and which lack most symbols.
std::vector<std::string> problems_of(const Symboliser& native, const ManagedLines& managed);
// Prints these lines. Of a long list only the first entries.
void say_symbol_problems(const std::vector<std::string>& problems);

// A text for people: "name,GUIDage,1" per line, as symchk /im reads it. Names that come from the target are made
// printable. Of a very long list the text has only the first entries.
std::string manifest_text(const std::vector<MissingPdb>& missing);
// "3 PDBs were not found"
std::string not_found_words(const std::vector<MissingPdb>& missing);
// A text for a log: how many PDBs were not found, and their lines. Empty if none is missing.
std::string missing_text(const std::vector<MissingPdb>& missing);
// One line for people about assemblies of a dump whose metadata was not found (ClrQuestions::missing_assemblies), with
// what helps. Empty if none is missing. Of a long list the text has only the first entries.
std::string missing_assemblies_text(const std::vector<std::string>& files);

}  // namespace mixwalk
