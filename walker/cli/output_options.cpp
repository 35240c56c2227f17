#include "walker/cli/output_options.h"

#include "walker/export/dump_format.h"

namespace mixwalk {
namespace {

std::string format_names(FormatsOf which) {
  std::string all;
  for (const RecordingFormat& format : recording_formats()) {
    if (which == FormatsOf::recordings && format.refusal == &dump_refusal) continue;
    all += (all.empty() ? "" : ", ") + std::string(format.name);
  }
  return all;
}

}  // namespace

void add_format(CLI::App& app, std::optional<std::string>& format, FormatsOf which,
                const std::string& otherwise) {
  std::string names = format_names(which);
  constexpr std::size_t kLine = 60;
  if (names.size() > kLine) names.replace(names.rfind(' ', kLine), 1, "\n");
  app.add_option("-f,--format", format, names + "\n(default: " + otherwise + ")")
      ->option_text("FORMAT");
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

void add_otlp(CLI::App& app, OtlpArguments& arguments) {
  app.add_option("--otlp", arguments.url,
                 "The OpenTelemetry collector to send to, as http://HOST:4318; a file is\n"
                 "written only if -o or -f is given as well")
      ->option_text("URL");
  app.add_option("--spool", arguments.spool,
                 "Where to keep what it has not got yet (default: a folder of the user)")
      ->option_text("FOLDER");
}

std::optional<ParseResult> finish_otlp(const OtlpArguments& arguments, const std::string& command,
                                       std::optional<OtlpTarget>& target) {
  if (!arguments.url) {
    return arguments.spool ? std::optional(usage("--spool goes with --otlp", command))
                           : std::nullopt;
  }
  if (arguments.spool && arguments.spool->empty()) {
    return usage("--spool needs a folder's name", command);
  }
  ParsedUrl parsed = parse_collector_url(*arguments.url);
  if (!parsed.url) return usage("--otlp: " + parsed.problem, command);
  target = {std::move(*parsed.url), arguments.spool};
  return std::nullopt;
}

}  // namespace mixwalk
