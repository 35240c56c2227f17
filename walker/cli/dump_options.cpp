#include "walker/cli/dump_options.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "unmanaged/image/ascii_lower.h"
#include "walker/cli/duration.h"

namespace mixwalk {
namespace {

constexpr char kDumpHelp[] =
    "Prints the complete call stacks of every thread of a .NET process, native and managed\n"
    "frames interleaved. The process goes on running: each thread stands still for about a\n"
    "millisecond, and mixwalk leaves the process when it is done. With --at-once all threads\n"
    "stand still together, and their stacks are those of one moment.\n"
    "\n"
    "Where mixwalk.dll is refused, or is not let in within 2s, the process is looked at from\n"
    "outside: it is only read then (--outside asks for that).\n"
    "\n"
    "Or prints the stacks in a dump file (minidump) of an x64 process, .NET or not.\n"
    "\n"
    "Examples:\n"
    "  mixwalk dump --process-id 4711\n"
    "  mixwalk dump --name orders -o orders.json\n"
    "  mixwalk dump --name orders --at-once\n"
    "  mixwalk dump --name orders --outside\n"
    "  mixwalk dump --name orders -o orders.speedscope.json\n"
    "  mixwalk dump --after 5s -- orders.exe --port 8080\n"
    "  mixwalk dump orders.dmp --symbol-path /symbols";

const std::map<std::string, Colour> kColours = {
    {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};

}  // namespace

void add_dump(CLI::App& app, DumpArguments& arguments) {
  CLI::App* dump = app.add_subcommand("dump", kDumpHelp);
  DumpCommand& command = arguments.command;
  arguments.app = dump;
  add_visit(*dump, arguments.visit, command.visit, "dump");
  dump->add_option("--after", arguments.visit.after, "When to dump a started program (default 2s)")
      ->check(duration_validator())
      ->option_text("DURATION");
  dump->add_flag("--at-once", command.visit.sampling.at_once,
                 "Stop all threads together, and copy their stacks before the first runs again\n"
                 "(--deadline is 500ms then, for all of them)");
  auto* outside = dump->add_flag_callback("--outside", [&command] { command.way = DumpWay::outside; },
                                          "Only read the process: nothing is loaded into it and nothing asked of it");
  dump->add_flag_callback("--inside", [&command] { command.way = DumpWay::inside; },
                          "Do not look from outside where mixwalk.dll is refused or not answered for 2s")
      ->excludes(outside);
  dump->add_option("--dac", command.dac,
                   "The debugging library (mscordaccore.dll) of the runtime, of a dump file or with --outside")
      ->option_text("FILE");
  dump->add_option("-o,--output", command.output, "The file to write; - or nothing: standard output")
      ->option_text("FILE");
  add_format(*dump, arguments.format, FormatsOf::all, "by the file's extension, else text");
  add_number(*dump, "--depth", command.filter.depth, "Show the first N frames of each stack")
      ->option_text("N");
  dump->add_flag("--managed-only", command.filter.managed_only, "Show managed frames only");
  dump->add_flag("--asm", command.calls, "Show the call instruction of each native frame (text only)");
  dump->add_flag("--all", command.filter.all,
                 "Show each frame of the runtime itself, also those that have no name (text only)");
  add_choice(*dump, "--color,--colour", kColours, command.colour, "auto, always or never")
      ->option_text("WHEN");
  dump->add_flag("-v,--verbose", command.verbose, "Say on standard error what is being done");
}

namespace {

// Returns an error, or nothing when the options are valid; they are in `output` then.
std::optional<ParseResult> finish_output(const std::optional<std::string>& format, DumpOutput& output) {
  if (format) {
    output.format = format_by_name(*format);
    if (output.format == nullptr) return unknown_format(*format, FormatsOf::all, "dump");
  } else {
    output.format = format_by_path(output.output.value_or(""));
    if (output.format == nullptr) output.format = format_by_name("text");
  }
  if (auto wrong = refuse_filter(*output.format, output.filter, "dump")) return wrong;
  if (output.calls) output.filter.all = true;  // a frame that is not shown has no call
  if (output.calls && output.format->name != "text") {
    return usage("--asm goes with the format text", "dump");
  }
  if (output.output && output.output->empty()) return usage("--output needs a file's name", "dump");
  if (output.output == "-") output.output.reset();
  return std::nullopt;
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
  // What is done to a process; a file stands still anyway.
  for (const char* option : {"--process-id", "--name", "--after", "--at-once", "--engine", "--deadline", "--probe",
                             "--canary", "--timeout", "--wait", "--outside", "--inside"}) {
    if (arguments.app->count(option) != 0) return usage(std::string(option) + " does not go with a dump file", "dump");
  }
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

ParseResult finish_dump(DumpArguments& arguments) {
  DumpCommand& command = arguments.command;
  if (Sampling& sampling = command.visit.sampling; sampling.at_once) {
    if (sampling.engine == Engine::snapshot) {
      return usage("--at-once does not go with --engine snapshot: the runtime is not asked about "
                   "threads that stand together", "dump");
    }
    if (!sampling.canary.empty()) return usage("--canary does not go with --at-once", "dump");
    sampling.engine = Engine::copy;
    sampling.deadline_ms = kAtOnceDeadlineMs;
  }
  if (auto wrong = finish_visit(arguments.visit, "dump", command.visit)) {
    return std::move(*wrong);
  }
  auto* start = std::get_if<ByStart>(&command.visit.target);
  if (command.way == DumpWay::outside) {
    if (start != nullptr) return usage("--outside goes with --process-id and --name", "dump");
    for (const char* option : {"--at-once", "--engine", "--deadline", "--probe", "--canary", "--timeout", "--wait"}) {
      if (arguments.app->count(option) != 0) return usage(std::string(option) + " does not go with --outside", "dump");
    }
  }
  // What only mixwalk.dll can do.
  for (const char* option : {"--at-once", "--engine", "--probe", "--canary", "--wait", "--timeout"}) {
    if (command.way == DumpWay::automatic && arguments.app->count(option) != 0) command.way = DumpWay::inside;
  }
  if (start != nullptr) command.way = DumpWay::inside;
  if (arguments.visit.after && start == nullptr) {
    return usage("--after goes with -- PROGRAM", "dump");
  }
  if (arguments.visit.after) start->after_ms = *parse_duration(*arguments.visit.after);
  if (auto wrong = finish_output(arguments.format, command)) return std::move(*wrong);
  return {.command = std::move(command)};
}

}  // namespace mixwalk
