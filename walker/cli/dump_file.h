#pragma once

#include <functional>
#include <string>

#include "symbols/image_files.h"
#include "symbols/server/store_fetch.h"
#include "walker/base/failure.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/options/options.h"
#include "walker/cli/symbol_loader.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// The services of the machine for reading a dump file.
struct DumpFileServices {
  // The files at the paths that the dump names: those of this machine (LocalImageFiles), or none (NoImageFiles) if the
  // dump's paths cannot mean files of this machine.
  ImageFiles& local;
  // Makes standard output show colours. Returns false if it is no console, or a console that cannot.
  bool (*show_colours)();
  // Opens the dump's runtime for questions.
  std::function<OpenedClr(const Target& target, const DumpFileCommand& command, StoreFetch* servers)> open_clr;
  std::function<void(const std::string&)> log;  // prints what is being done, with --verbose
};

// Reads files of this machine for dump files, and loads what symbol servers have besides. Several dump files of one
// command use one object, so that the limits hold for all of them together.
struct DumpFileSymbols {
  explicit DumpFileSymbols(const SymbolChoice& choice) : path(symbol_path_of(choice)), loader(path, choice) {}

  SymbolPath path;
  SymbolLoader loader;
  // In all dump files, each once: the PDBs that were not found, and the symbol files that are not used and why.
  std::vector<MissingPdb> missing;
  std::vector<std::string> problems;
};

// The stacks of a process in a minidump, with names. Facts about the file that a person must know are reported, but not
// what `symbols` lack.
Outcome<Snapshot> read_dump_file(const DumpFileCommand& command, const DumpFileServices& host,
                                 DumpFileSymbols& symbols);

// Prints the stacks of a process in a minidump. Failures are reported. Returns ExitCode::crash if the dump was written
// because of a crash.
ExitCode run(const DumpFileCommand& command, const DumpFileServices& host);

// Whether text is coloured: as the command says, or else if the output is a console.
template <class Command>
bool wants_colour(const Command& command, bool console) {
  return command.colour == Colour::always || (command.colour == Colour::automatic && !command.output && console);
}

}  // namespace mixwalk
