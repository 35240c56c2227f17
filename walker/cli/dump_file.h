#pragma once

#include <functional>
#include <string>

#include "symbols/image_files.h"
#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
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
  std::function<OpenedClr(const Target& target, const DumpFileCommand& command)> open_clr;
  std::function<void(const std::string&)> log;  // prints what is being done, with --verbose
};

// The stacks of a process in a minidump, with names. Facts about the file that a person must know are reported.
Outcome<Snapshot> read_dump_file(const DumpFileCommand& command, const DumpFileServices& host);

// Prints the stacks of a process in a minidump. Failures are reported. Returns ExitCode::crash if the dump was written
// because of a crash.
ExitCode run(const DumpFileCommand& command, const DumpFileServices& host);

// Whether text is coloured: as the command says, or else if the output is a console.
template <class Command>
bool wants_colour(const Command& command, bool console) {
  return command.colour == Colour::always || (command.colour == Colour::automatic && !command.output && console);
}

}  // namespace mixwalk
