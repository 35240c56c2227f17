#include "walker/cli/options/hang_options.h"

#include <map>

#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kCompareHelp[] =
    "Compares two or more dumps of a process and says which threads are stuck, what they wait for,\n"
    "and which thread holds it. Dumps are .mixwalk files, .dmp files and JSON of mixwalk dump, in any\n"
    "mixture. The exit code is 0 if nothing is known to be stuck, 20 if something is stuck, 21 for a\n"
    "deadlock. Compares two recordings and says where the time differs.\n"
    "\n"
    "Examples:\n"
    "  mixwalk compare first.mixwalk second.mixwalk\n"
    "  mixwalk compare hang1.dmp hang2.dmp hang3.dmp --all\n"
    "  mixwalk compare *.mixwalk --across\n"
    "  mixwalk compare yesterday.mixwalk today.mixwalk -o difference.html";

constexpr char kReportHelp[] =
    "Says what the threads of one dump wait for, and which thread holds it. One dump is enough to\n"
    "find a deadlock. To find a stuck thread, compare two dumps (mixwalk compare). If the file has\n"
    "several dumps of the process (dump --repeat), report compares them as well. The exit code is that\n"
    "of compare.\n"
    "\n"
    "Examples:\n"
    "  mixwalk report orders.mixwalk\n"
    "  mixwalk report orders.dmp -o orders.html";

const std::map<std::string, Format> kFormats = {
    {"html", Format::html}, {"json", Format::json}, {"text", Format::text}};

void add_common(CLI::App& command, HangArguments& arguments) {
  CLI::Option* const format =
      command.add_option("-f,--format", arguments.format, "text, json or html (default: by the extension of OUT, otherwise text)")
          ->option_text("FORMAT");
  set_words(*format, words_in(kFormats));
  command.add_option("-o,--output", arguments.output, "The file to write (default: standard output)")
      ->option_text("OUT");
  command.add_flag("--all", arguments.all, "Show all threads, groups and frames");
  command.add_flag("-q,--quiet", arguments.quiet, "Print nothing; the exit code says whether something is stuck");
  add_colour(command, arguments.colour);
  command
      .add_option("--symbol-path", arguments.symbol_path,
                  "For .dmp files: where to look for images and PDBs: FOLDER;srv*FOLDER;…\n"
                  "(default: _NT_SYMBOL_PATH). mixwalk does not look on the network")
      ->option_text("PATH");
  command.add_option("--dac", arguments.dac, "For .dmp files: the runtime's debugging library")->option_text("FILE");
  command.add_flag("-v,--verbose", arguments.verbose, "Print on standard error what mixwalk is doing");
}

ParseResult finish(const HangArguments& arguments, const std::string& command, HangCommand out) {
  if (arguments.output && (arguments.output->empty() || *arguments.output == "-")) {
    return usage("--output needs a file's name", command);
  }
  if (arguments.quiet && (arguments.output || arguments.format)) {
    return usage("--quiet cannot be used with --output or --format", command);
  }
  const RecordingFormat* const by_path = arguments.output ? format_by_path(*arguments.output) : nullptr;
  const std::string format = arguments.format.value_or(by_path ? std::string(by_path->name) : "text");
  const auto known = kFormats.find(format);
  if (known == kFormats.end()) return usage("--format: \"" + format + "\" is none of html, json, text", command);
  out.files = arguments.files;
  out.output = arguments.output;
  out.format = known->second;
  out.symbol_path = arguments.symbol_path;
  out.dac = arguments.dac;
  out.colour = arguments.colour;
  out.all = arguments.all;
  out.quiet = arguments.quiet;
  out.verbose = arguments.verbose;
  return {.command = std::move(out)};
}

}  // namespace

void add_compare(CLI::App& app, HangArguments& arguments) {
  CLI::App* const compare = app.add_subcommand("compare", kCompareHelp);
  compare->add_option("files", arguments.files, "The dumps, or two recordings")->option_text("FILE…");
  compare->add_flag("--across", arguments.across,
                    "The dumps are of several machines or processes of one service: say what they\n"
                    "have in common");
  add_common(*compare, arguments);
}

void add_report(CLI::App& app, HangArguments& arguments) {
  CLI::App* const report = app.add_subcommand("report", kReportHelp);
  report->add_option("file", arguments.files, "The dump")->option_text("DUMP");
  add_common(*report, arguments);
}

ParseResult finish_compare(const HangArguments& arguments) {
  if (arguments.files.empty()) return usage("compare needs dumps", "compare");
  return finish(arguments, "compare", {.across = arguments.across});
}

ParseResult finish_report(const HangArguments& arguments) {
  if (arguments.files.empty()) return usage("report needs a dump", "report");
  if (arguments.files.size() > 1) return usage("report needs exactly one dump; mixwalk compare takes several", "report");
  return finish(arguments, "report", {.single = true});
}

}  // namespace mixwalk
