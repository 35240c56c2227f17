#include <algorithm>
#include <map>
#include <memory>

#include "walker/cli/options/dump_arguments.h"
#include "walker/cli/options/help_formatter.h"
#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kCompareHelp[] =
    "Compares two or more dumps of a process and says which threads are stuck, what they wait for, and which thread "
    "holds it. Dumps are .mixwalk files, .dmp files and JSON of mixwalk dump, in any mixture. The exit code is 0 if "
    "nothing is known to be stuck, 20 if something is stuck, 21 for a deadlock, 22 if a dump was written because of a "
    "crash. Compares two recordings and says where the time differs.\n"
    "\n"
    "Examples:\n"
    "  mixwalk compare first.mixwalk second.mixwalk\n"
    "  mixwalk compare hang1.dmp hang2.dmp hang3.dmp --all\n"
    "  mixwalk compare *.mixwalk --across\n"
    "  mixwalk compare yesterday.mixwalk today.mixwalk -o difference.html";

constexpr char kReportHelp[] =
    "Says what the threads of a process or of one dump wait for, and which thread holds it. With --process-id or "
    "--name, mixwalk takes two dumps of the process, ten seconds apart, and compares them. One dump is enough to find "
    "a deadlock, but not a stuck thread. If a file has several dumps of a process (dump --repeat), report compares them "
    "as well. The exit code is that of compare.\n"
    "\n"
    "Examples:\n"
    "  mixwalk report -p 4711\n"
    "  mixwalk report -n orders --every 30s -o orders.html\n"
    "  mixwalk report orders.mixwalk\n"
    "  mixwalk report orders.dmp -o orders.html";

// Of a mixwalk that cannot look at processes.
constexpr char kReportFileHelp[] =
    "Says what the threads of one dump wait for, and which thread holds it. One dump is enough to find a deadlock. To "
    "find a stuck thread, compare two dumps (mixwalk compare). If the file has several dumps of the process (dump "
    "--repeat), report compares them as well. The exit code is that of compare.\n"
    "\n"
    "Examples:\n"
    "  mixwalk report orders.mixwalk\n"
    "  mixwalk report orders.dmp -o orders.html";

const std::map<std::string, Format> kFormats = {
    {"html", Format::html}, {"json", Format::json}, {"text", Format::text}};

struct HangArguments {
  HangCommand command;
  std::optional<std::string> format;
  DumpArguments process;  // of report: how it takes dumps itself
};

// What report does with a process and not with a file.
constexpr OptionNames kReportProcessOptions = {"--repeat", "--every",    "--one-by-one", "--outside", "--inside",
                                               "--wait",   "--timeout",  "--deadline",   "--engine",  "--probe",
                                               "--canary", "--no-host"};

// For report of a process, which it dumps itself.
ParseResult finish_report_of_process(const CLI::App& app, HangArguments& arguments) {
  HangCommand& report = arguments.command;
  if (!report.files.empty()) refuse("report takes a dump or a process, not both");
  DumpArguments& process = arguments.process;
  constexpr std::uint32_t kDumps = 2, kLeast = 1;
  if (!process.repeat) process.repeat = kDumps;
  DumpCommand& dump = process.command;
  dump.visit.symbols = report.symbols;
  dump.dac = report.dac;
  dump.runtime_data = report.runtime_data;
  finish_process(app, process, kLeast);
  dump.verbose = report.verbose;
  return {.command = ReportProcessCommand{std::move(report), std::move(dump), report.verbose}};
}

// The format that --format names, or else that of the file's extension.
Format format_in(const CLI::App& app, const HangArguments& arguments) {
  const std::string file = arguments.command.output.value_or("");
  const RecordingFormat* const by_path = format_by_path(file);
  const bool unknown =
      !extension_of(file).empty() && (by_path == nullptr || !kFormats.contains(std::string(by_path->name)));
  if (!arguments.format && unknown) refuse_extension(file, app.get_name(), words_in(kFormats));
  const std::string format = arguments.format.value_or(by_path != nullptr ? std::string(by_path->name) : "text");
  const auto known = kFormats.find(format);
  if (known == kFormats.end()) refuse_text("--format", format, "is none of html, json, text");
  return known->second;
}

ParseResult finish_hang(const CLI::App& app, HangArguments& arguments) {
  HangCommand& command = arguments.command;
  const std::size_t files = command.files.size();
  const bool of_process = command.single && app.count("--process-id") + app.count("--name") != 0;
  if (command.single && !of_process) refuse_given(app, {kReportProcessOptions}, "without --process-id or --name");
  if (files == 0 && !of_process) {
    const bool looks = command.single && is_shown(*app.get_option("--process-id"));
    refuse(looks ? "report needs a dump, or a process (--process-id, --name)"
                 : app.get_name() + (command.single ? " needs a dump" : " needs dumps"));
  }
  if (command.single && files > 1) refuse("report needs exactly one dump; mixwalk compare takes several");
  if (!of_process) refuse_foreign_dac(app);
  if (std::ranges::count(command.files, "-") > 1) refuse("standard input (-) can be read only once");
  if (command.output && command.output->empty()) refuse("--output needs a file's name");
  if (command.output == "-") command.output.reset();
  for (const char* option : {"--output", "--format", "--all"}) {
    if (command.quiet && app.count(option) != 0) refuse("--quiet cannot be used with " + std::string(option));
  }
  command.format = format_in(app, arguments);
  if (command.all && command.format == Format::json) refuse("--all cannot be used with JSON, which has everything");
  if (of_process) return finish_report_of_process(app, arguments);
  return {.command = std::move(command)};
}

Finish add_hang(CLI::App& app, bool single) {
  const auto arguments = std::make_shared<HangArguments>();
  HangCommand& command = arguments->command;
  command.single = single;
  if (single) {
    const std::string group = app.option_defaults()->get_group();
    app.option_defaults()->group(kTargetGroup);
    add_process(app, arguments->process.visit.process, "The process to dump and to explain");
    app.option_defaults()->group(group);
    app.add_option("file", command.files, "The dump, or - for standard input")->option_text("DUMP");
  } else {
    app.add_option("files", command.files, "The dumps, or two recordings; - for standard input")->option_text("FILE…");
    app.add_flag("--across", command.across,
                 "The dumps are of several machines or processes of one service: say what they have in common");
  }
  app.add_option("-o,--output", command.output, "The file to write (default, or -: standard output)")
      ->option_text("OUT");
  CLI::Option* const format =
      app.add_option("-f,--format", arguments->format,
                     "text, json or html (default: by the extension of OUT, otherwise text)")
          ->option_text("FORMAT");
  set_words(*format, words_in(kFormats));
  app.add_flag("--all", command.all, "Show all threads, groups and frames");
  app.add_flag("-q,--quiet", command.quiet, "Print nothing; the exit code says whether something is stuck");
  add_colour(app, command.colour);
  add_symbols(app, command.symbols, "For .dmp files: where to look for images and PDBs: FOLDER;srv*FOLDER;… ");
  app.add_option("--dac", command.dac, "For .dmp files: the runtime's debugging library")->option_text("FILE");
  add_runtime_data(app, command.runtime_data);
  add_verbose(app, command.verbose);
  if (single) {
    DumpArguments& process = arguments->process;
    app.option_defaults()->group("Dumps of a process");
    add_series(app, process, "Take N dumps of the process (1 to 1000, default 2).");
    app.option_defaults()->group(kExpertGroup);
    add_capture(app, process.command);
    add_walk(app, process.visit, process.command.visit);
  }
  return [arguments, &app](Given) { return finish_hang(app, *arguments); };
}

}  // namespace

Finish add_compare(CLI::App& app) {
  app.description(kCompareHelp);
  return add_hang(app, false);
}

Finish add_report(CLI::App& app) {
  app.description(kReportHelp);
  return add_hang(app, true);
}

void leave_hang_files(CLI::App& app) {
  app.get_option("--dac")->group(kNotOnThisSystem);
  if (app.get_name() != "report") return;
  app.description(kReportFileHelp);
  for (const char* const option : {"--process-id", "--name"}) app.get_option(option)->group(kNotOnThisSystem);
  for (const char* const option : kReportProcessOptions) app.get_option(option)->group(kNotOnThisSystem);
}

}  // namespace mixwalk
