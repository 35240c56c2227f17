#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/image_identities.h"
#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"
#include "walker/cli/options/options.h"
#include "walker/cli/symbol_loader.h"

namespace mixwalk {

// The folder for files of symbol servers, if the symbol path names none: in the user's own folders. Empty if the system
// does not say where these are.
std::string default_symbol_store();

// The same choice, but no server is asked.
inline SymbolChoice offline(SymbolChoice choice) {
  choice.asking = SymbolAsking::offline;
  return choice;
}

// The symbol path of a command: the value of --symbol-path, or else the environment variable _NT_SYMBOL_PATH, with the
// servers that are to be asked.
SymbolPath symbol_path_of(const SymbolChoice& choice);

// A line for each part of the path in which nothing can be found: it does not exist, or is on another machine. A share
// whose machine does not answer has its line among silent_shares().
std::vector<std::string> missing_folders(const SymbolPath& path);
// Prints these lines for a given --symbol-path. Nothing for the environment variable, which is not of this command;
// mixwalk doctor checks it.
void say_missing_folders(const SymbolChoice& choice);

// The symbols of this machine: those of images, assemblies, PDBs and debug files on its drives, and in the folders that
// the user names; and what symbol servers have besides. Not frozen-safe; one thread at a time.
class LocalSymbols {
 public:
  explicit LocalSymbols(const SymbolChoice& choice) : LocalSymbols(choice, symbol_path_of(choice)) {}

  Symboliser& symboliser() noexcept { return symboliser_; }
  ManagedLines& lines() noexcept { return lines_; }
  ImageIdentities& identities() noexcept { return identities_; }

  // The PDBs that were not found so far, native and portable; sorted, each once.
  std::vector<MissingPdb> missing() const;
  // See problems_of().
  std::vector<std::string> problems() const;
  // Prints what was loaded, and what is missing (SymbolLoader::lines).
  void say() { loader_.say(missing()); }
  SymbolLoader& loader() noexcept { return loader_; }

 private:
  LocalSymbols(const SymbolChoice& choice, const SymbolPath& path);

  SymbolLoader loader_;
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
// The same about images in which stacks of a dump end (images_that_end_stacks).
std::string missing_images_text(const std::vector<std::string>& files);
// The same about images that overlap others (DumpTarget::overlapping), by their paths.
std::string overlapping_images_text(const std::vector<std::string>& paths);

}  // namespace mixwalk
