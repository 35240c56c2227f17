#include "walker/cli/options.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "walker/base/version.h"
#include "walker/cli/arguments.h"
#include "walker/cli/convert_options.h"
#include "walker/cli/doctor_options.h"
#include "walker/cli/dump_options.h"
#include "walker/cli/hang_options.h"
#include "walker/cli/record_options.h"
#include "walker/cli/symbolise_options.h"

namespace mixwalk {
namespace {

constexpr char kPsHelp[] =
    "Lists the .NET processes that can be attached to: id, name, runtime.\n"
    "\n"
    "Example:\n"
    "  mixwalk ps";

const std::map<std::string, Format> kListFormats = {{"text", Format::text},
                                                    {"json", Format::json}};

void add_ps(CLI::App& app, PsCommand& command) {
  CLI::App* ps = app.add_subcommand("ps", kPsHelp);
  add_choice(*ps, "-f,--format", kListFormats, command.format, "text or json")
      ->option_text("FORMAT");
}

}  // namespace

ParseResult parse_command_line(const std::vector<std::string>& arguments,
                               const OtelVariables& variables) {
  CLI::App app("mixwalk shows the complete call stacks of .NET processes: native and managed "
               "frames, interleaved.",
               "mixwalk");
  app.set_version_flag("--version", std::string("mixwalk ") + kVersion);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.allow_windows_style_options(false);  // on other systems /p is a file
  PsCommand ps;
  DumpArguments dump;
  RecordArguments record;
  ConvertArguments convert;
  SymboliseArguments symbolise;
  HangArguments compare, report;
  DoctorArguments doctor;
  add_ps(app, ps);
  add_dump(app, dump);
  add_record(app, record);
  add_convert(app, convert);
  add_symbolise(app, symbolise);
  add_compare(app, compare);
  add_report(app, report);
  add_doctor(app, doctor);

  if (arguments.empty()) return {.to_stdout = app.help()};
  // All words after "--" belong to the program. CLI11 would take some of them for a subcommand or an
  // option of ours.
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
      return finish_convert(convert, variables);
    }
    if (app.got_subcommand("symbolise")) {
      if (!program.empty()) return usage("symbolise takes no program", "symbolise");
      return finish_symbolise(symbolise);
    }
    if (app.got_subcommand("compare")) {
      if (!program.empty()) return usage("compare takes no program", "compare");
      return finish_compare(compare);
    }
    if (app.got_subcommand("report")) {
      if (!program.empty()) return usage("report takes no program", "report");
      return finish_report(report);
    }
    if (app.got_subcommand("doctor")) {
      if (!program.empty()) return usage("doctor takes no program", "doctor");
      return finish_doctor(doctor);
    }
    const bool dumps = app.got_subcommand("dump");
    VisitArguments& visit = dumps ? dump.visit : record.visit;
    if (dumps && visit.program.size() == 1 && program.empty() && is_dump_file(visit.program.front())) {
      return finish_dump_file(dump);
    }
    if (!visit.program.empty()) {
      return usage("unexpected \"" + visit.program.front() + "\": a program goes after --",
                   dumps ? "dump" : "record");
    }
    visit.program = std::move(program);
    return dumps ? finish_dump(dump) : finish_record(record, variables);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const auto chosen = app.get_subcommands();
      if (chosen.empty()) return usage("no command: ps, dump, record, convert, symbolise, compare, report or doctor", "");
      return usage(sentence(error, *chosen.front()), chosen.front()->get_name());
    }
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
