#include "walker/cli/symbolise_options.h"

#include "walker/cli/default_output.h"

namespace mixwalk {
namespace {

constexpr char kSymboliseHelp[] =
    "Gives a recording (a .mixwalk file) the names and lines that were missing when it was\n"
    "made. Images, assemblies and PDBs are looked for on this machine, which may be another\n"
    "one than that of the recording. A name that stands is never replaced by a less certain\n"
    "one. PDBs that are missing are listed on standard output, as symchk /im takes them.\n"
    "\n"
    "Examples:\n"
    "  mixwalk symbolise orders.mixwalk --symbol-path build/orders\n"
    "  mixwalk symbolise orders.mixwalk -o named.mixwalk --symbol-path srv*/srv/symbols";

}  // namespace

void add_symbolise(CLI::App& app, SymboliseArguments& arguments) {
  CLI::App* symbolise = app.add_subcommand("symbolise", kSymboliseHelp);
  symbolise->add_option("input", arguments.input, "The recording")->option_text("IN");
  symbolise
      ->add_option("-o,--output", arguments.output,
                   "The file to write; may be IN (default: IN with .symbolised.mixwalk in\n"
                   "place of .mixwalk)")
      ->option_text("OUT");
  symbolise
      ->add_option("--symbol-path", arguments.symbol_path,
                   "Where images, assemblies and PDBs are looked for: FOLDER;srv*FOLDER;…\n"
                   "(default: _NT_SYMBOL_PATH); nothing is asked of a network")
      ->option_text("PATH");
}

ParseResult finish_symbolise(const SymboliseArguments& arguments) {
  if (!arguments.input || arguments.input->empty()) {
    return usage("symbolise needs the recording", "symbolise");
  }
  if (arguments.output && (arguments.output->empty() || *arguments.output == "-")) {
    return usage("--output needs a file's name", "symbolise");
  }
  return {.command = SymboliseCommand{
              *arguments.input, arguments.output.value_or(symbolised_output(*arguments.input)),
              arguments.symbol_path}};
}

}  // namespace mixwalk
