#pragma once

#include <functional>
#include <memory>
#include <string>

#include "symbols/image_files.h"
#include "walker/cli/options.h"
#include "walker/outside/clr_questions.h"
#include "walker/outside/target.h"

namespace mixwalk {

// What the machine lends to the look at a dump file.
struct DumpFileHost {
  // For the paths that the dump names: files of this machine (LocalImageFiles), or none (NoImageFiles) where its
  // paths cannot mean any.
  ImageFiles& local;
  std::string default_symbol_path;  // where the command line has none: _NT_SYMBOL_PATH
  bool colour = false;              // of text
  // Opens the runtime of a dump for questions. Null: it cannot be asked, and `obstacle` says why (empty: there is
  // none).
  std::function<std::unique_ptr<ClrQuestions>(const Target& target, std::string& obstacle)> open_clr;
  std::function<void(const std::string&)> log;  // what is being done, with --verbose
};

// Prints the stacks of a process in a minidump. Failures are reported.
ExitCode run(const DumpFileCommand& command, const DumpFileHost& host);

// Whether text is coloured: as the command says, or where the output goes to a terminal.
bool wants_colour(const DumpOutput& output, bool terminal);

}  // namespace mixwalk
