#include <memory>

#include "walker/cli/options/command_line.h"
#include "walker/cli/options/default_output.h"

namespace mixwalk {
namespace {

constexpr char kSymboliseHelp[] =
    "Gives a recording (a .mixwalk file) the names and lines that were missing when it was\n"
    "made. mixwalk looks for images, assemblies and PDBs on this machine, which need not be the\n"
    "machine of the recording. An existing name is never replaced by a less certain one.\n"
    "Missing PDBs are listed on standard output, in the form that symchk /im reads.\n"
    "\n"
    "Examples:\n"
    "  mixwalk symbolise orders.mixwalk --symbol-path build/orders\n"
    "  mixwalk symbolise orders.mixwalk -o named.mixwalk --symbol-path srv*/srv/symbols";

}  // namespace

Finish add_symbolise(CLI::App& app) {
  const auto command = std::make_shared<SymboliseCommand>();
  app.description(kSymboliseHelp);
  app.add_option("input", command->input, "The recording")->option_text("IN");
  app.add_option("-o,--output", command->output,
                 "The file to write; may be IN (default: IN with .symbolised.mixwalk in\n"
                 "place of .mixwalk)")
      ->option_text("OUT");
  add_symbol_path(app, command->symbol_path, "Where to look for images, assemblies and PDBs: FOLDER;srv*FOLDER;…\n");
  return [command, &app](Given) -> ParseResult {
    if (command->input.empty()) refuse("symbolise needs the recording");
    if (app.count("--output") == 0) command->output = symbolised_output(command->input);
    if (command->output.empty() || command->output == "-") refuse("--output needs a file's name");
    return {.command = std::move(*command)};
  };
}

}  // namespace mixwalk
