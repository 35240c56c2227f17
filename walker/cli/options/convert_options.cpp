#include "walker/cli/options/convert_options.h"

namespace mixwalk {
namespace {

constexpr char kConvertHelp[] =
    "Writes a recording (a .mixwalk file) in the format of another tool. If the recording was\n"
    "cut off, mixwalk converts the complete part and prints a message.\n"
    "\n"
    "Examples:\n"
    "  mixwalk convert orders.mixwalk -o orders.json\n"
    "  mixwalk convert orders.mixwalk -o orders.speedscope.json\n"
    "  mixwalk convert orders.mixwalk -f text -o -";

}  // namespace

void add_convert(CLI::App& app, ConvertArguments& arguments) {
  CLI::App* convert = app.add_subcommand("convert", kConvertHelp);
  convert->add_option("input", arguments.input, "The recording")->option_text("IN");
  convert
      ->add_option("-o,--output", arguments.output,
                   "The file to write (default, or -: standard output)")
      ->option_text("OUT");
  add_format(*convert, arguments.format, FormatsOf::all, "by the extension of OUT");
  add_otlp(*convert, arguments.otlp);
  add_all(*convert, arguments.filter, FormatsOf::all);
}

ParseResult finish_convert(const ConvertArguments& arguments, const OtelVariables& variables) {
  if (!arguments.input || arguments.input->empty()) {
    return usage("convert needs the file to convert", "convert");
  }
  if (arguments.output && arguments.output->empty()) {
    return usage("--output needs a file's name", "convert");
  }
  ConvertCommand command{.input = *arguments.input, .output = arguments.output.value_or("-"),
                         .filter = arguments.filter};
  if (auto wrong = finish_otlp(arguments.otlp, variables, "convert", command.otlp)) {
    return std::move(*wrong);
  }
  if (command.otlp && !arguments.output && !arguments.format) {
    return {.command = std::move(command)};
  }
  if (arguments.format) {
    command.format = format_by_name(*arguments.format);
    if (command.format == nullptr) return unknown_format(*arguments.format, FormatsOf::all, "convert");
    return {.command = std::move(command)};
  }
  command.format = format_by_path(command.output);
  if (command.format == nullptr) {
    return usage("convert needs --format, or an --output whose extension mixwalk knows", "convert");
  }
  return {.command = std::move(command)};
}

}  // namespace mixwalk
