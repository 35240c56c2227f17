#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/cli/options/dump_arguments.h"
#include "walker/cli/options/help_formatter.h"
#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kDumpHelp[] =
    "Prints the complete call stacks of every thread of a .NET process, native and managed frames interleaved. The "
    "process keeps running: mixwalk suspends each thread for about a millisecond, and leaves the process at the end. "
    "With "
    "--at-once it suspends all threads together, so that all stacks are from the same moment.\n"
    "\n"
    "If the process refuses mixwalk.dll, or does not answer within 2 s, mixwalk loads nothing into the process and "
    "reads "
    "it from outside. With --outside, mixwalk always reads from outside. With --inside, --engine, --probe, --canary, "
    "--wait or --timeout, mixwalk never does.\n"
    "\n"
    "With FILE.dmp, mixwalk prints the stacks in a dump file (minidump) of an x64 process, .NET or not. With -o "
    "NAME.dmp, "
    "mixwalk writes such a file, with all of the process's memory; the process is suspended until the system has "
    "cloned "
    "it, or, where it cannot be cloned, until the file is complete.\n"
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

// Of a mixwalk that cannot look at processes.
constexpr char kDumpFileHelp[] =
    "Prints the stacks in a dump file (minidump) of an x64 process of Windows, .NET or not.\n"
    "\n"
    "Examples:\n"
    "  mixwalk dump orders.dmp --symbol-path /symbols\n"
    "  mixwalk dump orders.dmp -o orders.json";

// Whether the output is a dump file.
bool writes_minidump(const DumpArguments& arguments) {
  return !arguments.format && ascii_lower(arguments.command.output.value_or("")).ends_with(".dmp");
}

// Checks the options of the output, and completes them.
void finish_output(const CLI::App& app, const std::optional<std::string>& format, DumpOutput& output) {
  output.format = chosen_format(app, format, FormatsOf::all, output.output.value_or(""));
  if (output.format == nullptr) output.format = &format_of(Format::text);
  check_frames(*output.format, output.filter);
  const bool is_text = output.format->id == Format::text;
  if (output.calls && !is_text) refuse("--asm needs the format text");
  if (output.calls && output.filter.managed_only)
    refuse("--asm cannot be used with --managed-only: managed frames have no calls");
  if (output.filter.all && !is_text && output.format->id != Format::html) {
    refuse("--all needs the format text or html: all other formats have every frame");
  }
  if (output.filter.all && output.filter.managed_only) refuse("--all cannot be used with --managed-only");
  if (output.calls) output.filter.all = true;  // the call of a frame that is not shown would be lost
  if (output.output && output.output->empty()) refuse("--output needs a file's name");
  if (output.output == "-") output.output.reset();
}

// Options about a process. They have no meaning for a file, which does not run.
constexpr std::initializer_list<const char*> kProcessOptions = {
    "--process-id", "--name", "--after", "--at-once", "--deadline", "--outside", "--inside", "--no-locks",
    "--repeat", "--every", "--one-by-one", "--no-host"};

// Options about looking stacks up and showing them. A written dump file contains the process, and no stacks.
constexpr std::initializer_list<const char*> kStackOptions = {
    "--outside",       "--inside", "--dac",          "--runtime-data", "--thread", "--symbol-path", "--symbols",
    "--symbol-limits", "--depth",  "--managed-only", "--asm",          "--all",    "--color",       "--at-once",
    "--async",
    "--no-locks",      "--repeat", "--every",        "--one-by-one",   "--no-host"};

// Whether an argument that is not an option means a program, by its extension, or a process, by its id. Any other
// argument is a dump file, whatever its name; what the file is, its bytes say. No file is looked for here.
bool is_program_or_process(const std::string& argument) {
  const std::string extension = ascii_lower(extension_of(argument));
  return parse_id(argument).has_value() ||
         std::ranges::any_of(std::initializer_list<std::string_view>{".exe", ".com", ".dll", ".bat", ".cmd"},
                             [&](std::string_view other) { return extension == other; });
}

bool process_given(const CLI::App& app) { return app.count("--process-id") + app.count("--name") != 0; }

// For a dump file, which is the only argument.
ParseResult finish_dump_file(const CLI::App& app, DumpArguments& arguments) {
  const std::string& file = arguments.visit.program.front();
  refuse_foreign_dac(app);
  refuse_given(app, {kProcessOptions, kDllOptions},
               "with a dump file (\"" + file + "\"); a program goes after --, a process's name after -n");
  if (writes_minidump(arguments)) refuse("-o NAME.dmp needs a process: a dump file cannot be made from a dump file");
  DumpFileCommand command;
  static_cast<DumpOutput&>(command) = std::move(static_cast<DumpOutput&>(arguments.command));
  command.file = file;
  command.symbols = arguments.command.visit.symbols;
  command.dac = arguments.command.dac;
  command.runtime_data = arguments.command.runtime_data;
  command.async = arguments.command.async;
  command.verbose = arguments.command.verbose;
  command.threads = threads_in(arguments.visit.threads);
  finish_output(app, arguments.format, command);
  return {.command = std::move(command)};
}

// For a dump file that is written.
ParseResult finish_minidump(const CLI::App& app, DumpArguments& arguments) {
  refuse_given(app, {kDllOptions, kFreezeOptions, kStackOptions}, "with a dump file (-o NAME.dmp)");
  DumpCommand& command = arguments.command;
  finish_visit(app, arguments.visit, command.visit);
  if (std::holds_alternative<ByStart>(command.visit.target) || arguments.after_ms) {
    refuse("a dump file (-o NAME.dmp) needs --process-id or --name");
  }
  return {.command = MinidumpCommand{std::move(command.visit.target), std::move(*command.output), command.verbose}};
}

// For a process.
ParseResult finish_dump(const CLI::App& app, DumpArguments& arguments) {
  DumpCommand& command = arguments.command;
  if (command.async && !command.locks) {
    refuse("--async cannot be used with --no-locks, which looks for no tasks either");
  }
  constexpr std::uint32_t kLeast = 2;
  finish_process(app, arguments, kLeast);
  auto* start = std::get_if<ByStart>(&command.visit.target);
  if (arguments.after_ms && start == nullptr) refuse("--after needs -- PROGRAM");
  if (arguments.after_ms) start->after_ms = *arguments.after_ms;
  finish_output(app, arguments.format, command);
  if (command.repeat > 1 && command.format->id != Format::mixwalk) {
    refuse("--repeat needs a .mixwalk file (-o NAME.mixwalk): the format " + std::string(command.format->name) +
           " cannot contain a series; mixwalk report -p takes dumps and explains them");
  }
  return {.command = std::move(command)};
}

}  // namespace

Finish add_dump(CLI::App& app) {
  const auto arguments = std::make_shared<DumpArguments>();
  DumpCommand& command = arguments->command;
  app.description(kDumpHelp);
  add_target(app, arguments->visit, "dump");
  arguments->visit.takes_file = true;
  app.get_option("program")
      ->group(kTargetGroup)
      ->description("A dump file (minidump), or - for standard input: the stacks in it")
      ->option_text("FILE.dmp");
  add_duration(app, "--after", arguments->after_ms, "When to dump a started program (default 2s)");
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", command.output, "The file to write (default, or -: standard output)")
      ->option_text("FILE");
  add_format(app, arguments->format, FormatsOf::all,
             "by the file's extension, otherwise text; .dmp: a dump file of the process");
  app.option_defaults()->group("What to show");
  add_frames(app, command.filter, "Show");
  app.add_flag("--all", command.filter.all,
               "Show each frame of the runtime itself, even if it has no name (text and html)");
  app.add_flag("--asm", command.calls, "Show the call instruction of each native frame (text only)");
  app.add_flag_callback(
      "--no-locks", [&command] { command.locks = false; }, "Do not find out which thread holds which lock");
  app.add_flag("--async", command.async,
               "List the tasks of async methods for which no thread waits, too (this reads the whole heap)");
  add_symbols(app, command.visit.symbols, kPdbsOfImages);
  add_colour(app, command.colour);
  app.option_defaults()->group("When");
  app.add_flag("--at-once", command.visit.sampling.at_once,
               "Stop all threads together, and copy all stacks before the first thread runs again (--deadline is then "
               "500ms, for all threads together)");
  add_series(app, *arguments,
             "Make a series of N dumps (2 to 1000) for mixwalk compare, in one .mixwalk file: no other format can "
             "contain a series.");
  app.get_option("--one-by-one")->excludes("--at-once");
  app.option_defaults()->group(kExpertGroup);
  add_capture(app, command);
  add_walk(app, arguments->visit, command.visit);
  app.add_option("--dac", command.dac,
                 "The debugging library (mscordaccore.dll) of the runtime, if mixwalk does not find it")
      ->option_text("FILE");
  add_runtime_data(app, command.runtime_data);
  add_verbose(app, command.verbose);
  return [arguments, &app](Given given) {
    const std::vector<std::string>& words = arguments->visit.program;
    if (words.size() == 1 && given.program.empty() && !is_program_or_process(words.front())) {
      return finish_dump_file(app, *arguments);
    }
    if (words.size() > 1 && given.program.empty()) {
      if (const std::string option = meant_by_slash(words[0], app); !option.empty()) {
        refuse("unexpected \"" + words[0] + "\": did you mean " + option + "?");
      }
      refuse("unexpected \"" + words[1] +
             "\": dump takes one dump file; mixwalk compare takes several, and a program goes "
             "after --");
    }
    const bool nothing_given = words.empty() && given.program.empty() && !process_given(app);
    if (nothing_given && !is_shown(*app.get_option("--process-id"))) {
      refuse("dump needs a dump file, or - for standard input; processes are looked at on Windows");
    }
    take_program(arguments->visit, given);
    return writes_minidump(*arguments) ? finish_minidump(app, *arguments) : finish_dump(app, *arguments);
  };
}

void leave_dump_files(CLI::App& app) {
  app.description(kDumpFileHelp);
  for (const OptionNames& options : {kProcessOptions, kDllOptions, OptionNames{"--dac"}}) {  // the DAC is a DLL
    for (const char* option : options) app.get_option(option)->group(kNotOnThisSystem);
  }
  app.get_option("--format")->description(format_help(FormatsOf::all, "by the file's extension, otherwise text"));
}

}  // namespace mixwalk
