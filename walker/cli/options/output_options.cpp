#include "walker/cli/options/output_options.h"

#include <map>

#include "unmanaged/ascii_lower.h"
#include "walker/cli/options/help_formatter.h"
#include "walker/otlp/otel_settings.h"

namespace mixwalk {
namespace {

std::vector<std::string> format_words(FormatsOf which) {
  std::vector<std::string> all;
  for (const RecordingFormat& format : recording_formats()) {
    if (which == FormatsOf::recordings && format.write == nullptr) continue;
    all.emplace_back(format.name);
  }
  return all;
}

std::string format_names(FormatsOf which) { return CLI::detail::join(format_words(which), ", "); }

}  // namespace

std::string format_help(FormatsOf which, const std::string& otherwise) {
  return format_names(which) + " (default: " + otherwise + ")";
}

void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which, const std::string& otherwise) {
  CLI::Option* const option =
      app.add_option("-f,--format", format, format_help(which, otherwise))->option_text("FORMAT");
  set_words(*option, format_words(which));
}

void refuse_extension(const std::string& file, const std::string& does, const std::vector<std::string>& formats) {
  const std::string extension = ascii_lower(extension_of(file));
  if (extension == ".dmp" && does != "dump") {
    refuse("--output: a dump file (.dmp) is made of a process, by mixwalk dump -p PID -o NAME.dmp");
  }
  const std::string takes = extension_words(formats) + (does == "dump" ? ", or .dmp" : "");
  refuse("--output: the extension of \"" + file + "\" is none of " + takes + ": give one of these, or a --format");
}

const RecordingFormat* chosen_format(const CLI::App& app, const std::optional<std::string>& format, FormatsOf which,
                                     const std::string& file) {
  if (format) {
    const RecordingFormat* const named = format_by_name(*format);
    const bool is_dump_file = app.get_name() == "dump" && ascii_lower(*format) == "dmp";
    if (is_dump_file) refuse("--format: a dump file is written with -o NAME.dmp, without --format");
    if (named == nullptr) refuse_text("--format", *format, "is none of " + format_names(which));
    return named;
  }
  const RecordingFormat* const by_path = format_by_path(file);
  if (by_path == nullptr && !extension_of(file).empty()) refuse_extension(file, app.get_name(), format_words(which));
  return by_path;
}

void add_list_format(CLI::App& app, Format& format) {
  static const std::map<std::string, Format> words = {{"json", Format::json}, {"text", Format::text}};
  CLI::Option* const named = add_choice(app, "-f,--format", words, format, "text or json (default: text)");
  named->option_text("FORMAT");
  app.add_flag_callback(
         "--json", [&format] { format = Format::json; }, "The same as --format json")
      ->excludes(named);
}

void add_frames(CLI::App& app, FrameFilter& filter, const std::string& verb) {
  add_number(app, "--depth", filter.depth, verb + " the first N frames of each stack")->option_text("N");
  app.add_flag("--managed-only", filter.managed_only, verb + " managed frames only");
}

void check_frames(const RecordingFormat& format, const FrameFilter& filter) {
  if (format.id != Format::mixwalk || (!filter.managed_only && !filter.depth)) return;
  refuse("a .mixwalk file always has all frames: it cannot be written with --depth or --managed-only");
}

void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which) {
  std::string help =
      "For exceptions: show the frames by which the runtime throws, too. Otherwise a stack begins at the "
      "frame that threw. A .mixwalk file always has all frames";
  help += which == FormatsOf::all ? ". For dumps as text, and in the page: show each frame of the runtime itself"
                                  : ". In the page: show each frame of the runtime itself";
  app.add_flag("--all", filter.all, help);
}

void check_all(const CLI::App& app, const RecordingFormat* format, bool otlp) {
  if (app.count("--all") == 0 || format == nullptr || format->id != Format::mixwalk || otlp) return;
  refuse("--all cannot be used with a .mixwalk file, which always has all frames");
}

void add_colour(CLI::App& app, Colour& colour) {
  static const std::map<std::string, Colour> colours = {
      {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};
  add_choice(app, "--color,--colour", colours, colour, "auto, always or never")->option_text("WHEN");
}

void refuse_foreign_dac(const CLI::App& app) {
  const CLI::Option& dac = *app.get_option("--dac");
  if (dac.count() != 0 && !is_shown(dac)) {
    refuse("--dac works on Windows only; here mixwalk reads the data of .NET 9 and later itself");
  }
}

void add_runtime_data(CLI::App& app, RuntimeSource& source) {
  static const std::map<std::string, RuntimeSource> sources = {{"auto", RuntimeSource::automatic},
                                                               {"contracts", RuntimeSource::contracts},
                                                               {"dac", RuntimeSource::debugging_library}};
  add_choice(app, "--runtime-data", sources, source, "What answers about the runtime: auto, contracts or dac")
      ->option_text("SOURCE")
      ->group("");
}

void add_otlp(CLI::App& app, OtlpArguments& arguments) {
  app.option_defaults()->group("Collector");
  app.add_option("--otlp", arguments.url,
                 "Send to this OpenTelemetry collector, such as http://HOST:4318 (without a URL: "
                 "that of OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT). "
                 "mixwalk then writes a file only if -o or -f is given")
      ->expected(0, 1)
      ->option_text("[URL]");
  app.add_option("--otlp-service", arguments.service,
                 "The service's name (default: OTEL_SERVICE_NAME)")
      ->option_text("NAME");
  add_list(app, "--otlp-attribute", arguments.attributes,
           "An attribute of the service, in addition to OTEL_RESOURCE_ATTRIBUTES; may be "
           "given more than once")
      ->option_text("NAME=VALUE");
  add_list(app, "--otlp-header", arguments.headers,
           "A header of each request, in addition to OTEL_EXPORTER_OTLP_HEADERS, a variable "
           "that other users cannot see; may be given more than once")
      ->option_text("NAME=VALUE");
  app.add_flag("--otlp-command-line", arguments.command_line,
               "Send the program's command line as well");
  app.add_option("--spool", arguments.spool,
                 "The folder for requests that the collector has not received yet (default: a folder "
                 "of the user)")
      ->option_text("FOLDER");
}

std::optional<OtlpTarget> finish_otlp(const CLI::App& app, const OtlpArguments& arguments,
                                      const OtelVariables& variables) {
  if (!arguments.url) {
    for (const char* option :
         {"--spool", "--otlp-service", "--otlp-attribute", "--otlp-header", "--otlp-command-line"}) {
      if (app.count(option) != 0) refuse(std::string(option) + " needs --otlp");
    }
    return std::nullopt;
  }
  if (arguments.spool && arguments.spool->empty()) refuse("--spool needs a folder's name");
  ParsedUrl url = collector_url(*arguments.url, variables);
  if (!url.url) refuse(url.problem);
  ParsedNameValues attributes = resource_attributes(arguments.attributes, arguments.service, variables);
  if (!attributes.problem.empty()) refuse(attributes.problem);
  ParsedNameValues headers = request_headers(arguments.headers, variables);
  if (!headers.problem.empty()) refuse(headers.problem);
  return OtlpTarget{.url = std::move(*url.url),
                    .spool = arguments.spool,
                    .content = {.attributes = std::move(attributes.pairs), .command_line = arguments.command_line},
                    .headers = std::move(headers.pairs)};
}

}  // namespace mixwalk
