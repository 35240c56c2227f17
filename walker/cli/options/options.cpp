#include "walker/cli/options/options.h"

#include <algorithm>
#include <sstream>

#include "walker/cli/options/command_line.h"
#include "walker/cli/options/completions.h"

namespace mixwalk {
namespace {

ParseResult finish_completions(const std::string& shell) {
  if (shell == "bash") return {.to_stdout = bash_completions(command_table())};
  if (shell == "powershell") return {.to_stdout = powershell_completions(command_table())};
  return usage(shell.empty() ? "completions needs a shell: bash or powershell"
                             : "\"" + shell + "\" is none of bash, powershell",
               "completions");
}

// Whether the word is "--output=" without a value. CLI11 would take the value from the next word. That word is another
// option, or a file to read.
bool lacks_value(const std::string& word) { return word.starts_with("--") && word.find('=') == word.size() - 1; }

}  // namespace

ParseResult parse_command_line(const std::vector<std::string>& arguments,
                               const OtelVariables& variables) {
  CommandLine line;
  CLI::App& app = line.app;
  if (arguments.empty()) return {.to_stdout = app.help()};
  // All words after "--" belong to the program. CLI11 would take some of them for a subcommand or an option of
  // mixwalk's own.
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
  if (const auto empty = std::ranges::find_if(own, lacks_value); empty != own.end()) {
    return usage(empty->substr(0, empty->size() - 1) + " needs a value", own.front().starts_with('-') ? "" : own.front());
  }
  try {
    std::reverse(own.begin(), own.end());  // CLI11 expects the last word first
    app.parse(own);
    if (app.got_subcommand("ps")) {
      if (!program.empty()) return usage("ps takes no program", "ps");
      return {.command = line.ps};
    }
    if (app.got_subcommand("convert")) {
      if (!program.empty()) return usage("convert takes no program", "convert");
      return finish_convert(line.convert, variables);
    }
    if (app.got_subcommand("symbolise")) {
      if (!program.empty()) return usage("symbolise takes no program", "symbolise");
      return finish_symbolise(line.symbolise);
    }
    if (app.got_subcommand("compare")) {
      if (!program.empty()) return usage("compare takes no program", "compare");
      return finish_compare(line.compare);
    }
    if (app.got_subcommand("report")) {
      if (!program.empty()) return usage("report takes no program", "report");
      return finish_report(line.report);
    }
    if (app.got_subcommand("doctor")) {
      if (!program.empty()) return usage("doctor takes no program", "doctor");
      return finish_doctor(line.doctor);
    }
    if (app.got_subcommand("completions")) {
      if (!program.empty()) return usage("completions takes no program", "completions");
      return finish_completions(line.shell);
    }
    const bool dumps = app.got_subcommand("dump");
    VisitArguments& visit = dumps ? line.dump.visit : line.record.visit;
    if (dumps && visit.program.size() == 1 && program.empty() && is_dump_file(visit.program.front())) {
      return finish_dump_file(line.dump);
    }
    if (!visit.program.empty()) {
      return usage("unexpected \"" + visit.program.front() + "\": a program goes after --",
                   dumps ? "dump" : "record");
    }
    visit.program = std::move(program);
    return dumps ? finish_dump(line.dump) : finish_record(line.record, variables);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const auto chosen = app.get_subcommands();
      if (chosen.empty()) {
        return usage("no command: ps, dump, record, convert, symbolise, compare, report, doctor or completions", "");
      }
      return usage(sentence(error, *chosen.front()), chosen.front()->get_name());
    }
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
