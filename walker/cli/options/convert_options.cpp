#include <memory>

#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kConvertHelp[] =
    "Writes a recording (a .mixwalk file) in the format of another tool. If the recording was cut off, mixwalk "
    "converts "
    "the complete part and prints a message.\n"
    "\n"
    "Examples:\n"
    "  mixwalk convert orders.mixwalk -o orders.json\n"
    "  mixwalk convert orders.mixwalk -o orders.speedscope.json\n"
    "  mixwalk convert orders.mixwalk --from 10s --to 20s -o part.speedscope.json\n"
    "  mixwalk convert orders.mixwalk -f text -o -";

struct ConvertArguments {
  ConvertCommand command{.output = "-"};
  std::optional<std::string> format;
  OtlpArguments otlp;
};

}  // namespace

Finish add_convert(CLI::App& app) {
  const auto arguments = std::make_shared<ConvertArguments>();
  app.description(kConvertHelp);
  app.add_option("input", arguments->command.input, "The recording, or - for standard input")->option_text("IN");
  app.add_option("-o,--output", arguments->command.output, "The file to write (default, or -: standard output)")
      ->option_text("OUT");
  add_format(app, arguments->format, FormatsOf::all, "by the extension of OUT");
  add_duration(app, "--from", arguments->command.from_ms,
               "Write only what was recorded from this time on, counted from the recording's beginning");
  add_duration(app, "--to", arguments->command.to_ms,
               "Write only what was recorded before this time, counted as well");
  add_all(app, arguments->command.filter, FormatsOf::all);
  add_otlp(app, arguments->otlp);
  return [arguments, &app](Given given) -> ParseResult {
    ConvertCommand& command = arguments->command;
    if (command.input.empty()) refuse("convert needs the file to convert");
    if (command.output.empty()) refuse("--output needs a file's name");
    if (command.to_ms && *command.to_ms <= command.from_ms.value_or(0)) refuse("--to must be later than --from");
    command.otlp = finish_otlp(app, arguments->otlp, given.variables);
    if (command.otlp && app.count("--output") == 0 && !arguments->format) return {.command = std::move(command)};
    command.format = chosen_format(app, arguments->format, FormatsOf::all, command.output);
    if (command.format == nullptr)
      refuse("convert needs --format, or an --output with an extension, such as NAME.html");
    check_all(app, command.format, command.otlp.has_value());
    return {.command = std::move(command)};
  };
}

}  // namespace mixwalk
