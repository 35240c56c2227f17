#pragma once

#include <functional>
#include <memory>
#include <string>

#include "symbols/image_files.h"
#include "walker/base/failure.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/target.h"

namespace mixwalk {

// What the machine lends to the look at a dump file.
struct DumpFileHost {
  // For the paths that the dump names: the files of this machine (LocalImageFiles), or no files (NoImageFiles) where
  // the dump's paths cannot mean files of this machine.
  ImageFiles& local;
  std::string symbol_path;  // symbol_path_text()
  bool colour = false;              // of text
  // Opens the debugging library of the dump's runtime for questions. Is null if the runtime cannot be asked, and
  // `obstacle` says why (empty if there is no runtime).
  std::function<std::unique_ptr<ClrQuestions>(const Target& target, std::string& obstacle)> open_clr;
  std::function<void(const std::string&)> log;  // what is being done, with --verbose
};

// The stacks of a process in a minidump, with names. Other facts about the file that a person must know are reported.
Outcome<Snapshot> read_dump_file(const std::string& file, const DumpFileHost& host);

// Prints the stacks of a process in a minidump. Failures are reported.
ExitCode run(const DumpFileCommand& command, const DumpFileHost& host);

// Whether text is coloured: as the command says, or where the output goes to a terminal.
bool wants_colour(const DumpOutput& output, bool terminal);
bool wants_colour(Colour colour, bool to_file, bool terminal);

}  // namespace mixwalk
