#include "walker/cli/options/symbolise_options.h"

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
                   "Where to look for images, assemblies and PDBs: FOLDER;srv*FOLDER;…\n"
                   "(default: _NT_SYMBOL_PATH). mixwalk does not look on the network")
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
