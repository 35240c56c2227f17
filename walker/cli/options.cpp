#include "walker/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "walker/cli/duration.h"
#include "walker/cli/version.h"

namespace mixwalk {
namespace {

constexpr char kPsHelp[] =
    "Lists the .NET processes that can be attached to: id, name, runtime.\n"
    "\n"
    "Example:\n"
    "  mixwalk ps";

constexpr char kDumpHelp[] =
    "Prints the complete call stacks of every thread of a .NET process, native and managed\n"
    "frames interleaved. The process goes on running: each thread stands still for well under a\n"
    "millisecond, and mixwalk leaves the process when it is done.\n"
    "\n"
    "Examples:\n"
    "  mixwalk dump --process-id 4711\n"
    "  mixwalk dump --name orders -o orders.json\n"
    "  mixwalk dump --after 5s -- orders.exe --port 8080";

constexpr char kConvertHelp[] =
    "Writes a recording (a .mixwalk file) in the format of another tool. What was cut off a\n"
    "recording is left out, and said.\n"
    "\n"
    "Examples:\n"
    "  mixwalk convert orders.mixwalk -o orders.json\n"
    "  mixwalk convert orders.mixwalk -f text -o -";

const std::map<std::string, Format> kListFormats = {{"text", Format::text},
                                                    {"json", Format::json}};
const std::map<std::string, Format> kDumpFormats = {
    {"text", Format::text}, {"json", Format::json}, {"mixwalk", Format::mixwalk}};
const std::map<std::string, Engine> kEngines = {{"snapshot", Engine::snapshot},
                                                {"copy", Engine::copy}};
const std::map<std::string, ProbePolicy> kProbes = {{"always", ProbePolicy::always},
                                                    {"risk", ProbePolicy::risk},
                                                    {"never", ProbePolicy::never}};
const std::map<std::string, Colour> kColours = {
    {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};

// An option that takes one of a few words: these and nothing else (CLI11's own transformer would
// take the number behind a word as well, and says an error in its own terms).
template <class Value, class Target>
CLI::Option* add_choice(CLI::App& app, const std::string& flags,
                        const std::map<std::string, Value>& words, Target& target,
                        const std::string& help) {
  return app.add_option_function<std::string>(
      flags,
      [&words, &target, flags](const std::string& text) {
        const auto found = words.find(text);
        if (found != words.end()) {
          target = found->second;
          return;
        }
        std::string all;
        for (const auto& [word, value] : words) all += (all.empty() ? "" : ", ") + word;
        throw CLI::ValidationError(flags.substr(flags.find("--")),
                                   "\"" + text + "\" is none of " + all);
      },
      help);
}

// A decimal number of at least 1. (CLI11 reads 010 as octal: another process than the user means.)
std::uint32_t to_number(const std::string& flags, const std::string& text) {
  std::uint32_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last || number == 0) {
    throw CLI::ValidationError(flags.substr(flags.find("--")),
                               "\"" + text + "\" is no number from 1 to 4294967295");
  }
  return number;
}

CLI::Option* add_number(CLI::App& app, const std::string& flags,
                        std::optional<std::uint32_t>& target, const std::string& help) {
  return app.add_option_function<std::string>(
      flags, [&target, flags](const std::string& text) { target = to_number(flags, text); }, help);
}

// The same, as often as it is given.
CLI::Option* add_numbers(CLI::App& app, const std::string& flags,
                         std::vector<std::uint32_t>& target, const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flags,
          [&target, flags](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) target.push_back(to_number(flags, text));
          },
          help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Validator duration_validator() {
  return CLI::Validator(
      [](std::string& text) {
        return parse_duration(text) ? std::string()
                                    : "\"" + text + "\" is no duration (2s, 500ms, 00:00:30)";
      },
      "DURATION");
}

// CLI11 says an error in several lines, and quotes what the user typed: one line, no controls.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  constexpr std::size_t kMaxBytes = 400;
  const bool cut = text.size() > kMaxBytes;
  if (cut) text.resize(kMaxBytes);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return cut ? text + "..." : text;
}

ParseResult usage(const std::string& message, const std::string& command) {
  const std::string help = command.empty() ? "mixwalk --help" : "mixwalk " + command + " --help";
  return {.exit_code = ExitCode::usage,
          .to_stderr = "mixwalk: " + one_line(message) + " (see " + help + ")\n"};
}

struct DumpArguments {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
  std::vector<std::string> program;
  std::optional<std::string> after;
  std::optional<Format> format;
  std::string timeout = "30s";
  std::string deadline = "50ms";
  DumpCommand command;
};

void add_ps(CLI::App& app, PsCommand& command) {
  CLI::App* ps = app.add_subcommand("ps", kPsHelp);
  add_choice(*ps, "-f,--format", kListFormats, command.format, "text or json")
      ->option_text("FORMAT");
}

void add_dump(CLI::App& app, DumpArguments& arguments) {
  CLI::App* dump = app.add_subcommand("dump", kDumpHelp);
  DumpCommand& command = arguments.command;
  add_number(*dump, "-p,--process-id", arguments.id, "The process to dump")->option_text("PID");
  dump->add_option("-n,--name", arguments.name, "The process to dump, by its image's name")
      ->option_text("NAME");
  dump->add_option("program", arguments.program, "A program to start and dump, with its arguments")
      ->option_text("-- PROGRAM ARGS...");
  dump->add_option("--after", arguments.after, "When to dump a started program (default 2s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_option("-o,--output", command.output, "The file to write (default: standard output)")
      ->option_text("FILE");
  add_choice(*dump, "-f,--format", kDumpFormats, arguments.format,
             "text, json or mixwalk (default: by the file's extension, else text)")
      ->option_text("FORMAT");
  add_number(*dump, "--depth", command.filter.depth, "Show the first N frames of each stack")
      ->option_text("N");
  dump->add_flag("--managed-only", command.filter.managed_only, "Show managed frames only");
  add_choice(*dump, "--engine", kEngines, command.engine,
             "snapshot (DoStackSnapshot, its holes filled; the default) or copy (no call\n"
             "into the runtime while a thread stands still)")
      ->option_text("ENGINE");
  dump->add_option("--deadline", arguments.deadline,
                   "How long a thread may stand still at most (default 50ms)")
      ->check(duration_validator())
      ->option_text("DURATION");
  add_choice(*dump, "--probe", kProbes, command.probe,
             "always, risk or never: when to try the runtime on another thread before a\n"
             "thread is walked (default risk: where it may hold a lock of the runtime)")
      ->option_text("WHEN");
  dump->add_option("--canary", command.canary,
                   "The thread to try it on: its name begins so (default: a parked one)")
      ->option_text("NAME");
  add_numbers(*dump, "--thread", command.threads,
              "Dump only this thread, by its id; may be given again")
      ->option_text("TID");
  add_choice(*dump, "--color,--colour", kColours, command.colour, "auto, always or never")
      ->option_text("WHEN");
  dump->add_option("--timeout", arguments.timeout, "How long to wait for the target (default 30s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_flag("-v,--verbose", command.verbose, "Say on standard error what is being done");
}

Format format_of(const DumpArguments& arguments) {
  if (arguments.format) return *arguments.format;
  std::string path = arguments.command.output.value_or("");
  for (char& c : path) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (path.ends_with(".mixwalk")) return Format::mixwalk;
  return path.ends_with(".json") ? Format::json : Format::text;
}

ParseResult finish_dump(DumpArguments& arguments) {
  const int targets = arguments.id.has_value() + arguments.name.has_value() +
                      static_cast<int>(!arguments.program.empty());
  if (targets != 1) {
    return usage("dump needs exactly one of --process-id, --name and -- PROGRAM", "dump");
  }
  if (arguments.after && arguments.program.empty()) {
    return usage("--after goes with -- PROGRAM", "dump");
  }
  DumpCommand& command = arguments.command;
  command.format = format_of(arguments);
  const bool filtered = command.filter.managed_only || command.filter.depth;
  if (command.format == Format::mixwalk && filtered) {
    return usage("a .mixwalk file has all frames: no --depth, no --managed-only", "dump");
  }
  command.timeout_ms = *parse_duration(arguments.timeout);
  command.deadline_ms = *parse_duration(arguments.deadline);
  constexpr std::uint32_t kMaxDeadlineMs = 60'000;
  if (command.deadline_ms == 0 || command.deadline_ms > kMaxDeadlineMs) {
    return usage("--deadline must be from 1ms to 60s", "dump");
  }
  if (command.timeout_ms == 0) return usage("--timeout must be longer than nothing", "dump");
  if (command.output && command.output->empty()) {
    return usage("--output needs a file's name", "dump");
  }
  if (arguments.id) {
    command.target = ById{*arguments.id};
  } else if (arguments.name) {
    if (arguments.name->empty()) return usage("--name must not be empty", "dump");
    command.target = ByName{*arguments.name};
  } else {
    ByStart start{std::move(arguments.program)};
    if (start.arguments.front().empty()) return usage("the program has no name", "dump");
    if (arguments.after) start.after_ms = *parse_duration(*arguments.after);
    command.target = std::move(start);
  }
  return {.command = std::move(command)};
}

struct ConvertArguments {
  std::optional<std::string> input, output, format;
};

std::string format_names() {
  std::string all;
  for (const RecordingFormat& format : recording_formats()) {
    all += (all.empty() ? "" : ", ") + std::string(format.name);
  }
  return all;
}

void add_convert(CLI::App& app, ConvertArguments& arguments) {
  CLI::App* convert = app.add_subcommand("convert", kConvertHelp);
  convert->add_option("input", arguments.input, "The recording")->option_text("IN");
  convert
      ->add_option("-o,--output", arguments.output,
                   "The file to write; - or nothing: standard output")
      ->option_text("OUT");
  convert
      ->add_option("-f,--format", arguments.format,
                   format_names() + " (default: by the extension of OUT)")
      ->option_text("FORMAT");
}

ParseResult finish_convert(const ConvertArguments& arguments) {
  if (!arguments.input || arguments.input->empty()) {
    return usage("convert needs the file to convert", "convert");
  }
  if (arguments.output && arguments.output->empty()) {
    return usage("--output needs a file's name", "convert");
  }
  ConvertCommand command{.input = *arguments.input, .output = arguments.output.value_or("-")};
  if (arguments.format) {
    command.format = format_by_name(*arguments.format);
    if (command.format == nullptr) {
      return usage("--format: \"" + *arguments.format + "\" is none of " + format_names(),
                   "convert");
    }
    return {.command = std::move(command)};
  }
  command.format = format_by_path(command.output);
  if (command.format == nullptr) {
    return usage("convert needs --format, or an --output whose extension says it", "convert");
  }
  return {.command = std::move(command)};
}

}  // namespace

ParseResult parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app("mixwalk shows the complete call stacks of .NET processes: native and managed "
               "frames, interleaved.",
               "mixwalk");
  app.set_version_flag("--version", std::string("mixwalk ") + kVersion);
  app.require_subcommand(1);
  PsCommand ps;
  DumpArguments dump;
  ConvertArguments convert;
  add_ps(app, ps);
  add_dump(app, dump);
  add_convert(app, convert);

  std::string chosen;
  // What follows "--" belongs to the program, whatever it looks like. CLI11 would take a word of
  // it for a subcommand or an option of ours.
  std::vector<std::string> own = arguments;
  const auto separator = std::find(own.begin(), own.end(), "--");
  if (separator != own.end()) {
    dump.program.assign(separator + 1, own.end());
    own.erase(separator, own.end());
    if (dump.program.empty()) return usage("no program after --", "dump");
  }
  std::vector<std::string> program = std::move(dump.program);
  dump.program.clear();
  try {
    std::reverse(own.begin(), own.end());  // CLI11 takes them last first
    app.parse(own);
    if (app.got_subcommand("ps")) {
      if (!program.empty()) return usage("ps takes no program", "ps");
      return {.command = ps};
    }
    if (app.got_subcommand("convert")) {
      if (!program.empty()) return usage("convert takes no program", "convert");
      return finish_convert(convert);
    }
    if (!dump.program.empty()) {
      return usage("unexpected \"" + dump.program.front() + "\": a program goes after --", "dump");
    }
    dump.program = std::move(program);
    return finish_dump(dump);
  } catch (const CLI::ParseError& error) {
    for (const CLI::App* command : app.get_subcommands()) chosen = command->get_name();
    if (error.get_exit_code() != 0) return usage(error.what(), chosen);
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
