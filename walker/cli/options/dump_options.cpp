#include "walker/cli/options/dump_options.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/cli/options/duration.h"

namespace mixwalk {
namespace {

constexpr char kDumpHelp[] =
    "Prints the complete call stacks of every thread of a .NET process, native and managed\n"
    "frames interleaved. The process keeps running: mixwalk suspends each thread for about a\n"
    "millisecond, and leaves the process at the end. With --at-once it suspends all threads\n"
    "together, so that all stacks are from the same moment.\n"
    "\n"
    "If the process refuses mixwalk.dll, or does not answer within 2 s, mixwalk loads nothing into\n"
    "the process and reads it from outside. With --outside, mixwalk always reads from outside. With\n"
    "--inside, --engine, --probe, --canary, --wait or --timeout, mixwalk never does.\n"
    "\n"
    "With FILE.dmp, mixwalk prints the stacks in a dump file (minidump) of an x64 process, .NET or not.\n"
    "With -o NAME.dmp, mixwalk writes such a file, with all of the process's memory; the process is\n"
    "suspended until the system has cloned it, or, where it cannot be cloned, until the file is complete.\n"
    "\n"
    "Examples:\n"
    "  mixwalk dump --process-id 4711\n"
    "  mixwalk dump --name orders -o orders.json\n"
    "  mixwalk dump --name orders --at-once\n"
    "  mixwalk dump --name orders --outside\n"
    "  mixwalk dump --name orders --repeat 3 --every 10s -o orders.mixwalk\n"
    "  mixwalk dump --name orders -o orders.speedscope.json\n"
    "  mixwalk dump --after 5s -- orders.exe --port 8080\n"
    "  mixwalk dump --name orders -o orders.dmp\n"
    "  mixwalk dump orders.dmp --symbol-path /symbols";

}  // namespace

void add_dump(CLI::App& app, DumpArguments& arguments) {
  CLI::App* dump = app.add_subcommand("dump", kDumpHelp);
  DumpCommand& command = arguments.command;
  arguments.app = dump;
  add_visit(*dump, arguments.visit, command.visit, "dump");
  dump->get_option("program")
      ->group("Options")
      ->description("A dump file (minidump): the stacks in it")
      ->option_text("FILE.dmp");
  dump->add_option("--after", arguments.visit.after, "When to dump a started program (default 2s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_flag("--at-once", command.visit.sampling.at_once,
                 "Stop all threads together, and copy all stacks before the first thread runs again\n"
                 "(--deadline is then 500ms, for all threads together)");
  add_number(*dump, "--repeat", arguments.repeat,
             "Make a series of N dumps (2 to 1000) for mixwalk compare, in one .mixwalk file: no other\n"
             "format can contain a series. All threads are stopped together for each dump, as with\n"
             "--at-once; not with --one-by-one, --engine snapshot or --canary. Ctrl-C ends the series\n"
             "and keeps the dumps so far")
      ->option_text("N");
  dump->add_option("--every", arguments.every,
                   "The time between the starts of two dumps of a series (default 10s); only with --repeat")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_flag("--one-by-one", arguments.one_by_one, "Stop the threads of each dump one after the other; only with --repeat")
      ->excludes("--at-once");
  auto* outside = dump->add_flag_callback(
      "--outside", [&command] { command.capture = CaptureChoice::outside; },
      "Only read the process: load nothing into it, and send it no request");
  dump->add_flag_callback(
          "--inside", [&command] { command.capture = CaptureChoice::inside; },
          "Fail if mixwalk.dll is refused or gets no answer; do not read the process from\n"
          "outside instead")
      ->excludes(outside);
  dump->add_option("--dac", command.dac,
                   "The debugging library (mscordaccore.dll) of the runtime, if mixwalk does not find it")
      ->option_text("FILE");
  dump->add_flag_callback("--no-locks", [&command] { command.locks = false; },
                          "Do not find out which thread holds which lock");
  dump->add_option("-o,--output", command.output, "The file to write (default, or -: standard output)")
      ->option_text("FILE");
  add_format(*dump, arguments.format, FormatsOf::all, "by the file's extension, otherwise text; .dmp: a dump file of the process");
  add_number(*dump, "--depth", command.filter.depth, "Show the first N frames of each stack")
      ->option_text("N");
  dump->add_flag("--managed-only", command.filter.managed_only, "Show managed frames only");
  dump->add_flag("--asm", command.calls, "Show the call instruction of each native frame (text only)");
  dump->add_flag("--all", command.filter.all,
                 "Show each frame of the runtime itself, even if it has no name (text only)");
  add_colour(*dump, command.colour);
  dump->add_flag("-v,--verbose", command.verbose, "Print on standard error what mixwalk is doing");
}

namespace {

// Whether the output is a dump file.
bool writes_minidump(const DumpArguments& arguments) {
  const std::string output = arguments.command.output.value_or("");
  return !arguments.format && ascii_lower(output).ends_with(".dmp");
}

// Returns an error, or nothing if the options are valid; `output` then has them.
std::optional<ParseResult> finish_output(const std::optional<std::string>& format, DumpOutput& output) {
  if (format) {
    output.format = format_by_name(*format);
    if (output.format == nullptr) return unknown_format(*format, FormatsOf::all, "dump");
  } else {
    output.format = format_by_path(output.output.value_or(""));
    if (output.format == nullptr) output.format = format_by_name("text");
  }
  if (auto wrong = refuse_filter(*output.format, output.filter, "dump")) return wrong;
  if (output.calls) output.filter.all = true;  // the call of a frame that is not shown would be lost
  if (output.calls && output.format->name != "text") {
    return usage("--asm needs the format text", "dump");
  }
  if (output.output && output.output->empty()) return usage("--output needs a file's name", "dump");
  if (output.output == "-") output.output.reset();
  return std::nullopt;
}

// Options that only mixwalk.dll can follow.
constexpr std::initializer_list<const char*> kDllOptions = {"--engine", "--probe", "--canary", "--wait", "--timeout"};
// Options about a process. They have no meaning for a file, which does not run.
constexpr std::initializer_list<const char*> kProcessOptions = {
    "--process-id", "--name", "--after", "--at-once", "--deadline", "--outside", "--inside", "--no-locks",
    "--repeat", "--every", "--one-by-one"};

// From outside, a single thread is suspended only while its registers and its stack are copied.
constexpr std::initializer_list<const char*> kFreezeOptions = {"--deadline"};

// Options about looking stacks up and showing them. A written dump file contains the process, and no stacks.
constexpr std::initializer_list<const char*> kStackOptions = {
    "--outside", "--inside", "--dac", "--thread", "--symbol-path", "--depth", "--managed-only", "--asm", "--all",
    "--color", "--at-once", "--no-locks", "--repeat", "--every", "--one-by-one"};

// The first of these options that was given, or null if none was.
const char* first_given(const CLI::App& app, std::initializer_list<const char*> options) {
  const auto given = std::ranges::find_if(options, [&](const char* option) { return app.count(option) != 0; });
  return given == options.end() ? nullptr : *given;
}

}  // namespace

bool is_dump_file(const std::string& argument) {
  const std::string_view name = std::string_view(argument).substr(argument.find_last_of("/\\") + 1);
  const auto dot = name.find_last_of('.');
  if (dot == std::string_view::npos) return false;
  const std::string extension = ascii_lower(name.substr(dot));
  return std::ranges::none_of(std::initializer_list<std::string_view>{".exe", ".com", ".dll", ".bat", ".cmd", "."},
                              [&](std::string_view other) { return extension == other; });
}

ParseResult finish_dump_file(DumpArguments& arguments) {
  for (const auto& options : {kProcessOptions, kDllOptions}) {
    const char* const option = first_given(*arguments.app, options);
    if (option != nullptr) return usage(std::string(option) + " cannot be used with a dump file", "dump");
  }
  if (writes_minidump(arguments)) return usage("-o NAME.dmp needs a process: a dump file cannot be made from a dump file", "dump");
  DumpFileCommand command;
  static_cast<DumpOutput&>(command) = std::move(static_cast<DumpOutput&>(arguments.command));
  command.file = arguments.visit.program.front();
  command.symbol_path = arguments.command.visit.symbol_path;
  command.dac = arguments.command.dac;
  command.verbose = arguments.command.verbose;
  if (auto wrong = finish_threads(arguments.visit.threads, "dump", command.threads)) return std::move(*wrong);
  if (auto wrong = finish_output(arguments.format, command)) return std::move(*wrong);
  return {.command = std::move(command)};
}

namespace {

ParseResult finish_minidump(DumpArguments& arguments) {
  for (const auto& options : {kDllOptions, kFreezeOptions, kStackOptions}) {
    const char* const option = first_given(*arguments.app, options);
    if (option != nullptr) return usage(std::string(option) + " cannot be used with a dump file (-o NAME.dmp)", "dump");
  }
  DumpCommand& command = arguments.command;
  if (auto wrong = finish_visit(arguments.visit, "dump", command.visit)) return std::move(*wrong);
  if (std::holds_alternative<ByStart>(command.visit.target) || arguments.visit.after) {
    return usage("a dump file (-o NAME.dmp) needs --process-id or --name", "dump");
  }
  return {.command = MinidumpCommand{std::move(command.visit.target), std::move(*command.output), command.verbose}};
}

}  // namespace

namespace {

// All dumps of a series are in memory at once, and compare reads no more than this.
constexpr std::uint32_t kMaxRepeat = 1000;

// Returns an error, or nothing if the options are valid; the command then has them.
std::optional<ParseResult> finish_series(DumpArguments& arguments) {
  DumpCommand& command = arguments.command;
  if (!arguments.repeat) {
    if (arguments.every) return usage("--every needs --repeat", "dump");
    if (arguments.one_by_one) return usage("--one-by-one needs --repeat", "dump");
    return std::nullopt;
  }
  if (*arguments.repeat < 2 || *arguments.repeat > kMaxRepeat) {
    return usage("--repeat must be a number from 2 to " + std::to_string(kMaxRepeat), "dump");
  }
  command.repeat = *arguments.repeat;
  if (arguments.every) command.every_ms = *parse_duration(*arguments.every);
  if (command.every_ms == 0) return usage("--every must be more than 0", "dump");
  Sampling& sampling = command.visit.sampling;
  if (!arguments.one_by_one && sampling.engine != Engine::snapshot && !arguments.visit.canary) {
    sampling.at_once = true;
  }
  return std::nullopt;
}

}  // namespace

ParseResult finish_dump(DumpArguments& arguments) {
  if (writes_minidump(arguments)) return finish_minidump(arguments);
  DumpCommand& command = arguments.command;
  if (auto wrong = finish_series(arguments)) return std::move(*wrong);
  if (Sampling& sampling = command.visit.sampling; sampling.at_once) {
    if (sampling.engine == Engine::snapshot) {
      return usage("--at-once cannot be used with --engine snapshot: mixwalk does not call the runtime "
                   "while several threads are suspended", "dump");
    }
    if (arguments.visit.canary) return usage("--canary cannot be used with --at-once", "dump");
    sampling.engine = Engine::copy;
    sampling.deadline_ms = kAtOnceDeadlineMs;
  }
  if (auto wrong = finish_visit(arguments.visit, "dump", command.visit)) {
    return std::move(*wrong);
  }
  auto* start = std::get_if<ByStart>(&command.visit.target);
  if (command.capture == CaptureChoice::outside) {
    if (start != nullptr) return usage("--outside needs --process-id or --name", "dump");
    const char* option = first_given(*arguments.app, kDllOptions);
    if (option == nullptr && !command.visit.sampling.at_once) option = first_given(*arguments.app, kFreezeOptions);
    if (option != nullptr) return usage(std::string(option) + " cannot be used with --outside", "dump");
  } else if (start != nullptr || first_given(*arguments.app, kDllOptions) != nullptr) {
    command.capture = CaptureChoice::inside;
  }
  if (arguments.visit.after && start == nullptr) {
    return usage("--after needs -- PROGRAM", "dump");
  }
  if (arguments.visit.after) start->after_ms = *parse_duration(*arguments.visit.after);
  if (auto wrong = finish_output(arguments.format, command)) return std::move(*wrong);
  if (command.repeat > 1 && command.format->name != "mixwalk") {
    return usage("--repeat needs a .mixwalk file (-o NAME.mixwalk): the format " +
                     std::string(command.format->name) + " cannot contain a series", "dump");
  }
  return {.command = std::move(command)};
}

}  // namespace mixwalk
