#include "walker/cli/output_options.h"

#include <map>

#include "walker/export/dump_format.h"
#include "walker/otlp/otel_settings.h"

namespace mixwalk {
namespace {

std::vector<std::string> format_words(FormatsOf which) {
  std::vector<std::string> all;
  for (const RecordingFormat& format : recording_formats()) {
    if (which == FormatsOf::recordings && format.refusal == &dump_refusal) continue;
    all.emplace_back(format.name);
  }
  return all;
}

std::string format_names(FormatsOf which) { return CLI::detail::join(format_words(which), ", "); }

}  // namespace

void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which,
                const std::string& otherwise) {
  std::string names = format_names(which);
  constexpr std::size_t kLine = 60;
  if (names.size() > kLine) names.replace(names.rfind(' ', kLine), 1, "\n");
  CLI::Option* const option =
      app.add_option("-f,--format", format, names + "\n(default: " + otherwise + ")")->option_text("FORMAT");
  set_words(*option, format_words(which));
}

ParseResult unknown_format(const std::string& format, FormatsOf which,
                           const std::string& command) {
  return usage("--format: \"" + format + "\" is none of " + format_names(which), command);
}

std::optional<ParseResult> refuse_filter(const RecordingFormat& format, const FrameFilter& filter,
                                         const std::string& command) {
  if (format.name != "mixwalk" || (!filter.managed_only && !filter.depth)) return std::nullopt;
  return usage("a .mixwalk file has all frames: no --depth, no --managed-only", command);
}

void add_all(CLI::App& app, FrameFilter& filter, FormatsOf which) {
  std::string help = "Of exceptions: show how the runtime throws as well; else a stack begins at the\n"
                     "frame that threw. A .mixwalk file has all frames";
  if (which == FormatsOf::all) help += ".\nOf dumps as text: show each frame of the runtime itself";
  app.add_flag("--all", filter.all, help);
}

void add_colour(CLI::App& app, Colour& colour) {
  static const std::map<std::string, Colour> colours = {
      {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};
  add_choice(app, "--color,--colour", colours, colour, "auto, always or never")->option_text("WHEN");
}

void add_otlp(CLI::App& app, OtlpArguments& arguments) {
  app.add_option("--otlp", arguments.url,
                 "The OpenTelemetry collector to send to, as http://HOST:4318 (without URL: that\n"
                 "of OTEL_EXPORTER_OTLP_ENDPOINT); a file is written only if -o or -f is given\n"
                 "as well")
      ->expected(0, 1)
      ->option_text("[URL]");
  app.add_option("--otlp-service", arguments.service,
                 "The service's name (default: OTEL_SERVICE_NAME)")
      ->option_text("NAME");
  add_list(app, "--otlp-attribute", arguments.attributes,
           "An attribute of the service, beside OTEL_RESOURCE_ATTRIBUTES; may be given\n"
           "again")
      ->option_text("NAME=VALUE");
  add_list(app, "--otlp-header", arguments.headers,
           "A header of each request, beside OTEL_EXPORTER_OTLP_HEADERS, which other users\n"
           "cannot see; may be given again")
      ->option_text("NAME=VALUE");
  app.add_flag("--otlp-command-line", arguments.command_line,
               "Send the program's command line as well");
  app.add_option("--spool", arguments.spool,
                 "Where to keep what it has not got yet (default: a folder of the user)")
      ->option_text("FOLDER");
}

std::optional<ParseResult> finish_otlp(const OtlpArguments& arguments,
                                       const OtelVariables& variables, const std::string& command,
                                       std::optional<OtlpTarget>& target) {
  if (!arguments.url) {
    const char* const lonely = arguments.spool                 ? "--spool"
                               : arguments.service             ? "--otlp-service"
                               : !arguments.attributes.empty() ? "--otlp-attribute"
                               : !arguments.headers.empty()    ? "--otlp-header"
                               : arguments.command_line        ? "--otlp-command-line"
                                                               : nullptr;
    if (lonely == nullptr) return std::nullopt;
    return usage(std::string(lonely) + " goes with --otlp", command);
  }
  if (arguments.spool && arguments.spool->empty()) {
    return usage("--spool needs a folder's name", command);
  }
  ParsedUrl url = collector_url(*arguments.url, variables);
  if (!url.url) return usage(url.problem, command);
  ParsedNameValues attributes =
      resource_attributes(arguments.attributes, arguments.service, variables);
  if (!attributes.problem.empty()) return usage(attributes.problem, command);
  ParsedNameValues headers = request_headers(arguments.headers, variables);
  if (!headers.problem.empty()) return usage(headers.problem, command);
  target = {.url = std::move(*url.url),
            .spool = arguments.spool,
            .content = {.attributes = std::move(attributes.pairs),
                        .command_line = arguments.command_line},
            .headers = std::move(headers.pairs)};
  return std::nullopt;
}

}  // namespace mixwalk
