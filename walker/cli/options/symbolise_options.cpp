#include <memory>

#include "walker/cli/options/default_output.h"
#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kSymboliseHelp[] =
    "Gives a recording (a .mixwalk file) the names and lines that were missing when it was made. mixwalk looks for "
    "images, "
    "assemblies and PDBs on this machine, which need not be the machine of the recording. An existing name is never "
    "replaced by a less certain one. Missing PDBs are listed on standard output, in the form that symchk /im reads.\n"
    "\n"
    "Examples:\n"
    "  mixwalk symbolise orders.mixwalk --symbol-path build/orders\n"
    "  mixwalk symbolise orders.mixwalk -o named.mixwalk --symbol-path srv*/srv/symbols";

}  // namespace

Finish add_symbolise(CLI::App& app) {
  const auto command = std::make_shared<SymboliseCommand>();
  app.description(kSymboliseHelp);
  app.add_option("input", command->input, "The recording, or - for standard input")->option_text("IN");
  app.add_option("-o,--output", command->output,
                 "The file to write; may be IN (default: IN with .symbolised.mixwalk in place of .mixwalk)")
      ->option_text("OUT");
  add_symbols(app, command->symbols, "Where to look for images, assemblies and PDBs: FOLDER;srv*FOLDER;… ");
  return [command, &app](Given) -> ParseResult {
    if (command->input.empty()) refuse("symbolise needs the recording");
    const bool told = app.count("--output") != 0;
    if (command->input == "-" && !told) refuse("symbolise needs --output if it reads standard input");
    if (!told) command->output = symbolised_output(command->input);
    if (command->output.empty() || command->output == "-") refuse("--output needs a file's name");
    const RecordingFormat* const format = format_by_path(command->output);
    if (told && !extension_of(command->output).empty() && (format == nullptr || format->id != Format::mixwalk)) {
      refuse("--output: symbolise writes a .mixwalk file, and mixwalk convert writes the others");
    }
    return {.command = std::move(*command)};
  };
}

}  // namespace mixwalk
