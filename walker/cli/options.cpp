#include "walker/cli/options.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "unmanaged/image/ascii_lower.h"
#include "walker/cli/arguments.h"
#include "walker/cli/duration.h"
#include "walker/cli/version.h"
#include "walker/export/dump_format.h"

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
    "  mixwalk dump --name orders -o orders.speedscope.json\n"
    "  mixwalk dump --after 5s -- orders.exe --port 8080";

constexpr char kRecordHelp[] =
    "Samples the complete call stacks of a .NET process, again and again, into a file: .mixwalk,\n"
    "or that of another tool, by its extension. Ctrl-C ends it and keeps everything.\n"
    "\n"
    "Examples:\n"
    "  mixwalk record --process-id 4711 --duration 30s\n"
    "  mixwalk record --name orders -d 10s -o orders.speedscope.json\n"
    "  mixwalk record --name orders --otlp http://localhost:4318\n"
    "  mixwalk record --mode cpu -o orders.pb.gz -- orders.exe --port 8080\n"
    "  mixwalk record --name orders --on exception=System.IO.IOException";

constexpr char kConvertHelp[] =
    "Writes a recording (a .mixwalk file) in the format of another tool. What was cut off a\n"
    "recording is left out, and said.\n"
    "\n"
    "Examples:\n"
    "  mixwalk convert orders.mixwalk -o orders.json\n"
    "  mixwalk convert orders.mixwalk -o orders.speedscope.json\n"
    "  mixwalk convert orders.mixwalk -f text -o -";

const std::map<std::string, Format> kListFormats = {{"text", Format::text},
                                                    {"json", Format::json}};
const std::map<std::string, Engine> kEngines = {{"snapshot", Engine::snapshot},
                                                {"copy", Engine::copy}};
const std::map<std::string, ProbePolicy> kProbes = {{"always", ProbePolicy::always},
                                                    {"risk", ProbePolicy::risk},
                                                    {"never", ProbePolicy::never}};
const std::map<std::string, SampleEvent> kModes = {{"wall", SampleEvent::wall},
                                                   {"cpu", SampleEvent::cpu}};
const std::map<std::string, Colour> kColours = {
    {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};

// What dump and record have in common.
struct VisitArguments {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
  std::vector<std::string> program;
  std::optional<std::string> after;
  std::string timeout = "30s";
  std::string deadline = "50ms";
};

void add_visit(CLI::App& app, VisitArguments& arguments, Sampling& sampling, const char* verb) {
  const std::string what = std::string("The process to ") + verb;
  add_number(app, "-p,--process-id", arguments.id, what)->option_text("PID");
  app.add_option("-n,--name", arguments.name, what + ", by its image's name")->option_text("NAME");
  // Only to say where a program goes: what follows "--" never comes here.
  app.add_option("program", arguments.program)->group("");
  add_choice(app, "--engine", kEngines, sampling.engine,
             "snapshot (DoStackSnapshot, its holes filled; the default) or copy (no call\n"
             "into the runtime while a thread stands still)")
      ->option_text("ENGINE");
  app.add_option("--deadline", arguments.deadline,
                 "How long a thread may stand still at most (default 50ms)")
      ->check(duration_validator())
      ->option_text("DURATION");
  add_choice(app, "--probe", kProbes, sampling.probe,
             "always, risk or never: when to try the runtime on another thread before a\n"
             "thread is walked (default risk: where it may hold a lock of the runtime)")
      ->option_text("WHEN");
  app.add_option("--canary", sampling.canary,
                 "The thread to try it on: its name begins so (default: a parked one)")
      ->option_text("NAME");
  app.add_option("--timeout", arguments.timeout, "How long to wait for the target (default 30s)")
      ->check(duration_validator())
      ->option_text("DURATION");
}

// Nothing: it makes sense, and is in the last three.
std::optional<ParseResult> finish_visit(VisitArguments& arguments, const std::string& command,
                                        TargetChoice& target, Sampling& sampling,
                                        std::uint32_t& timeout_ms) {
  const int targets = arguments.id.has_value() + arguments.name.has_value() +
                      static_cast<int>(!arguments.program.empty());
  if (targets != 1) {
    return usage(command + " needs exactly one of --process-id, --name and -- PROGRAM", command);
  }
  timeout_ms = *parse_duration(arguments.timeout);
  sampling.deadline_ms = *parse_duration(arguments.deadline);
  if (sampling.deadline_ms == 0 || sampling.deadline_ms > kMaxDeadlineMs) {
    return usage("--deadline must be from 1ms to 60s", command);
  }
  if (timeout_ms == 0) return usage("--timeout must be longer than nothing", command);
  if (arguments.id) {
    target = ById{*arguments.id};
  } else if (arguments.name) {
    if (arguments.name->empty()) return usage("--name must not be empty", command);
    target = ByName{*arguments.name};
  } else {
    if (arguments.program.front().empty()) return usage("the program has no name", command);
    target = ByStart{std::move(arguments.program)};
  }
  return std::nullopt;
}

std::string format_names() {
  std::string all;
  for (const RecordingFormat& format : recording_formats()) {
    all += (all.empty() ? "" : ", ") + std::string(format.name);
  }
  return all;
}

void add_format(CLI::App& app, std::optional<std::string>& format, const std::string& otherwise) {
  std::string names = format_names();
  constexpr std::size_t kLine = 60;
  if (names.size() > kLine) names.replace(names.rfind(' ', kLine), 1, "\n");
  app.add_option("-f,--format", format, names + "\n(default: " + otherwise + ")")
      ->option_text("FORMAT");
}

ParseResult unknown_format(const std::string& format, const std::string& command) {
  return usage("--format: \"" + format + "\" is none of " + format_names(), command);
}

std::optional<ParseResult> refuse_filter(const RecordingFormat& format, const FrameFilter& filter,
                                         const std::string& command) {
  if (format.name != "mixwalk" || (!filter.managed_only && !filter.depth)) return std::nullopt;
  return usage("a .mixwalk file has all frames: no --depth, no --managed-only", command);
}

// What record and convert have in common.
struct OtlpArguments {
  std::optional<std::string> url, spool;
};

void add_otlp(CLI::App& app, OtlpArguments& arguments) {
  app.add_option("--otlp", arguments.url,
                 "The OpenTelemetry collector to send to, as http://HOST:4318; a file is\n"
                 "written only if -o or -f is given as well")
      ->option_text("URL");
  app.add_option("--spool", arguments.spool,
                 "Where to keep what it has not got yet (default: a folder of the user)")
      ->option_text("FOLDER");
}

// Nothing: it makes sense, and is in `target`.
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

struct DumpArguments {
  VisitArguments visit;
  std::optional<std::string> format;
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
  add_visit(*dump, arguments.visit, command.sampling, "dump");
  dump->add_option("--after", arguments.visit.after, "When to dump a started program (default 2s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_option("-o,--output", command.output, "The file to write (default: standard output)")
      ->option_text("FILE");
  add_format(*dump, arguments.format, "by the file's extension, else text");
  add_number(*dump, "--depth", command.filter.depth, "Show the first N frames of each stack")
      ->option_text("N");
  dump->add_flag("--managed-only", command.filter.managed_only, "Show managed frames only");
  add_numbers(*dump, "--thread", command.sampling.threads,
              "Dump only this thread, by its id; may be given again")
      ->option_text("TID");
  add_choice(*dump, "--color,--colour", kColours, command.colour, "auto, always or never")
      ->option_text("WHEN");
  dump->add_flag("-v,--verbose", command.verbose, "Say on standard error what is being done");
}

ParseResult finish_dump(DumpArguments& arguments) {
  DumpCommand& command = arguments.command;
  if (auto wrong = finish_visit(arguments.visit, "dump", command.target, command.sampling,
                                command.timeout_ms)) {
    return std::move(*wrong);
  }
  auto* start = std::get_if<ByStart>(&command.target);
  if (arguments.visit.after && start == nullptr) {
    return usage("--after goes with -- PROGRAM", "dump");
  }
  if (arguments.visit.after) start->after_ms = *parse_duration(*arguments.visit.after);
  if (arguments.format) {
    command.format = format_by_name(*arguments.format);
    if (command.format == nullptr) return unknown_format(*arguments.format, "dump");
  } else {
    command.format = format_by_path(command.output.value_or(""));
    if (command.format == nullptr) command.format = format_by_name("text");
  }
  if (auto wrong = refuse_filter(*command.format, command.filter, "dump")) return std::move(*wrong);
  if (command.output && command.output->empty()) {
    return usage("--output needs a file's name", "dump");
  }
  return {.command = std::move(command)};
}

struct RecordArguments {
  VisitArguments visit;
  std::optional<std::string> duration, interval, output, format;
  std::optional<std::uint32_t> rate, every;
  std::optional<std::string> on;
  std::optional<SampleEvent> mode;
  OtlpArguments otlp;
  std::vector<std::string> threads;
  RecordCommand command;
};

void add_record(CLI::App& app, RecordArguments& arguments) {
  CLI::App* record = app.add_subcommand("record", kRecordHelp);
  RecordCommand& command = arguments.command;
  add_visit(*record, arguments.visit, command.sampling, "record");
  record
      ->add_option("-d,--duration", arguments.duration,
                   "How long: 30, 30s or 00:00:30 (default: until Ctrl-C or its end)")
      ->check(duration_validator())
      ->option_text("DURATION");
  add_number(*record, "-r,--rate", arguments.rate, "Samples a second of each thread (default 100)")
      ->option_text("HZ");
  record
      ->add_option("-i,--interval", arguments.interval, "The time between two of them instead")
      ->check(duration_validator())
      ->option_text("DURATION");
  record
      ->add_option("-o,--output", arguments.output, "The file to write (default recording.mixwalk)")
      ->option_text("FILE");
  add_format(*record, arguments.format, "by the file's extension");
  record
      ->add_option("--threads", arguments.threads,
                   "Only threads with this id, or whose name begins so; may be given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("NAME-or-TID");
  add_otlp(*record, arguments.otlp);
  add_choice(*record, "--mode", kModes, arguments.mode,
             "wall (every thread, the default) or cpu (threads that used the CPU since their\n"
             "last sample; the others are not even stopped)")
      ->option_text("MODE");
  record
      ->add_option("--on", arguments.on,
                   "Instead of samples over time, the stack of every exception[=TYPE] where it is\n"
                   "thrown, or of every Nth allocation[=TYPE] (of a program started with --)")
      ->option_text("EVENT");
  add_number(*record, "--every", arguments.every, "With --on allocation: its N (default 1000)")
      ->option_text("N");
  add_number(*record, "--depth", command.filter.depth, "Keep the first N frames of each stack")
      ->option_text("N");
  record->add_flag("--managed-only", command.filter.managed_only, "Keep managed frames only");
  record->add_flag("-v,--verbose", command.verbose, "Say on standard error what is being done");
}

// What makes a sample: time, or what --on says. Nothing: it makes sense.
std::optional<ParseResult> finish_event(const RecordArguments& arguments, RecordCommand& command) {
  constexpr std::uint32_t kDefaultEvery = 1000;
  if (!arguments.on) {
    if (arguments.every) return usage("--every goes with --on allocation", "record");
    command.event = arguments.mode.value_or(SampleEvent::wall);
    return std::nullopt;
  }
  if (arguments.rate || arguments.interval || arguments.mode) {
    return usage("--on takes no --rate, --interval or --mode", "record");
  }
  const std::size_t equals = arguments.on->find('=');
  const std::string event = arguments.on->substr(0, equals);
  if (equals != std::string::npos) {
    command.type = arguments.on->substr(equals + 1);
    if (command.type.empty()) return usage("--on " + event + "= needs a type's name", "record");
  }
  if (event == "exception") {
    if (arguments.every) return usage("--every goes with --on allocation", "record");
    command.event = SampleEvent::exception;
    return std::nullopt;
  }
  if (event != "allocation") {
    return usage("--on: \"" + event + "\" is none of allocation, exception", "record");
  }
  auto* start = std::get_if<ByStart>(&command.target);
  if (start == nullptr) {
    return usage("--on allocation needs -- PROGRAM: a runtime tells of allocations only if it was "
                 "asked as it started",
                 "record");
  }
  start->allocations = true;
  command.event = SampleEvent::allocation;
  command.every = arguments.every.value_or(kDefaultEvery);
  return std::nullopt;
}

// How often a sample is taken. Nothing: it makes sense.
std::optional<ParseResult> finish_period(const RecordArguments& arguments, RecordCommand& command) {
  if (arguments.rate && arguments.interval) {
    return usage("--rate and --interval say the same: one of them", "record");
  }
  constexpr std::uint32_t kMaxRate = 10'000;
  constexpr std::uint32_t kMaxIntervalMs = 60'000;
  if (arguments.rate) {
    if (*arguments.rate > kMaxRate) return usage("--rate must be from 1 to 10000", "record");
    command.period_ns = 1'000'000'000 / *arguments.rate;
  }
  if (arguments.interval) {
    const std::uint32_t interval_ms = *parse_duration(*arguments.interval);
    if (interval_ms == 0 || interval_ms > kMaxIntervalMs) {
      return usage("--interval must be from 1ms to 60s", "record");
    }
    command.period_ns = std::uint64_t{interval_ms} * 1'000'000;
  }
  return std::nullopt;
}

// Where the recording goes. Nothing: it makes sense.
std::optional<ParseResult> finish_output(const RecordArguments& arguments, RecordCommand& command) {
  if (auto wrong = finish_otlp(arguments.otlp, "record", command.otlp)) return wrong;
  command.output = arguments.output.value_or("recording.mixwalk");
  if (command.output.empty()) return usage("--output needs a file's name", "record");
  if (command.otlp && !arguments.output && !arguments.format) return std::nullopt;  // no file
  command.format =
      arguments.format ? format_by_name(*arguments.format) : format_by_path(command.output);
  if (command.format == nullptr) {
    return arguments.format
               ? unknown_format(*arguments.format, "record")
               : usage("the extension of --output says no format: --format does", "record");
  }
  if (auto wrong = refuse_filter(*command.format, command.filter, "record")) return wrong;
  if (command.format->refusal == &dump_refusal) {
    return usage(std::string(command.format->name) + " shows one moment, not a recording", "record");
  }
  return std::nullopt;
}

ParseResult finish_record(RecordArguments& arguments) {
  RecordCommand& command = arguments.command;
  if (auto wrong = finish_visit(arguments.visit, "record", command.target, command.sampling,
                                command.timeout_ms)) {
    return std::move(*wrong);
  }
  // A started program is recorded from its beginning.
  if (auto* start = std::get_if<ByStart>(&command.target)) start->after_ms = 0;
  if (arguments.duration) {
    command.duration_ms = *parse_duration(*arguments.duration);
    if (command.duration_ms == 0) return usage("--duration must be longer than nothing", "record");
  }
  if (auto wrong = finish_event(arguments, command)) return std::move(*wrong);
  if (auto wrong = finish_period(arguments, command)) return std::move(*wrong);
  if (auto wrong = finish_output(arguments, command)) return std::move(*wrong);
  for (std::string& thread : arguments.threads) {
    if (const auto id = to_number(thread)) {
      command.sampling.threads.push_back(*id);
    } else if (thread.empty()) {
      return usage("--threads needs a name or an id", "record");
    } else {
      command.thread_names.push_back(std::move(thread));
    }
  }
  return {.command = std::move(command)};
}

struct ConvertArguments {
  std::optional<std::string> input, output, format;
  OtlpArguments otlp;
};

void add_convert(CLI::App& app, ConvertArguments& arguments) {
  CLI::App* convert = app.add_subcommand("convert", kConvertHelp);
  convert->add_option("input", arguments.input, "The recording")->option_text("IN");
  convert
      ->add_option("-o,--output", arguments.output,
                   "The file to write; - or nothing: standard output")
      ->option_text("OUT");
  add_format(*convert, arguments.format, "by the extension of OUT");
  add_otlp(*convert, arguments.otlp);
}

ParseResult finish_convert(const ConvertArguments& arguments) {
  if (!arguments.input || arguments.input->empty()) {
    return usage("convert needs the file to convert", "convert");
  }
  if (arguments.output && arguments.output->empty()) {
    return usage("--output needs a file's name", "convert");
  }
  ConvertCommand command{.input = *arguments.input, .output = arguments.output.value_or("-")};
  if (auto wrong = finish_otlp(arguments.otlp, "convert", command.otlp)) return std::move(*wrong);
  if (command.otlp && !arguments.output && !arguments.format) {
    return {.command = std::move(command)};
  }
  if (arguments.format) {
    command.format = format_by_name(*arguments.format);
    if (command.format == nullptr) return unknown_format(*arguments.format, "convert");
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
  app.formatter(std::make_shared<HelpFormatter>());
  app.allow_windows_style_options(false);  // /p is a file to whoever comes from elsewhere
  PsCommand ps;
  DumpArguments dump;
  RecordArguments record;
  ConvertArguments convert;
  add_ps(app, ps);
  add_dump(app, dump);
  add_record(app, record);
  add_convert(app, convert);

  std::string chosen;
  // What follows "--" belongs to the program, whatever it looks like. CLI11 would take a word of
  // it for a subcommand or an option of ours.
  std::vector<std::string> own = arguments, program;
  const auto separator = std::find(own.begin(), own.end(), "--");
  if (separator != own.end()) {
    program.assign(separator + 1, own.end());
    own.erase(separator, own.end());
    if (program.empty()) return usage("no program after --", own.empty() ? "" : own.front());
  }
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (!own.empty() && !own.front().starts_with('-') &&
      std::ranges::none_of(commands, [&](const CLI::App* command) {
        return command->check_name(own.front());
      })) {
    return usage("there is no command \"" + own.front() + "\"", "");
  }
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
    const bool dumps = app.got_subcommand("dump");
    VisitArguments& visit = dumps ? dump.visit : record.visit;
    if (!visit.program.empty()) {
      return usage("unexpected \"" + visit.program.front() + "\": a program goes after --",
                   dumps ? "dump" : "record");
    }
    visit.program = std::move(program);
    return dumps ? finish_dump(dump) : finish_record(record);
  } catch (const CLI::ParseError& error) {
    for (const CLI::App* command : app.get_subcommands()) chosen = command->get_name();
    if (error.get_exit_code() != 0) return usage(error.what(), chosen);
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
