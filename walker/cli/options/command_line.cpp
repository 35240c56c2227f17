#include "walker/cli/options/command_line.h"

#include <memory>

#include "walker/base/version.h"
#include "walker/cli/options/completions.h"
#include "walker/cli/options/help_formatter.h"
#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kPsHelp[] =
    "Lists the .NET processes that can be attached to: id, name, runtime.\n"
    "\n"
    "Example:\n"
    "  mixwalk ps";

Finish add_ps(CLI::App& app) {
  const auto command = std::make_shared<PsCommand>();
  app.description(kPsHelp);
  add_list_format(app, command->format);
  return [command](Given) -> ParseResult { return {.command = *command}; };
}

constexpr char kCompletionsHelp[] =
    "Writes the script by which a shell completes commands, options and their values.\n"
    "\n"
    "Examples:\n"
    "  eval \"$(mixwalk completions bash)\"\n"
    "  mixwalk completions powershell | Out-String | Invoke-Expression";

ParseResult completions_for(const std::string& shell) {
  if (shell == "bash") return {.to_stdout = bash_completions(command_table())};
  if (shell == "powershell") return {.to_stdout = powershell_completions(command_table())};
  refuse(shell.empty() ? "completions needs a shell: bash or powershell"
                       : "\"" + shell + "\" is none of bash, powershell");
}

Finish add_completions(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.description(kCompletionsHelp);
  set_words(*app.add_option("shell", *shell, "bash or powershell")->option_text("SHELL"), {"bash", "powershell"});
  return [shell](Given) { return completions_for(*shell); };
}

// Leaves nothing of the command in the help.
void hide(CLI::App& app) {
  app.group("");
  app.description("Only on Windows. " + app.get_description());
}

constexpr CommandRow kRows[] = {
    {"ps", &add_ps, false, &hide},
    {"dump", &add_dump, true, &leave_dump_files},
    {"record", &add_record, true, &hide},
    {"convert", &add_convert},
    {"symbolise", &add_symbolise},
    {"compare", &add_compare, false, &leave_hang_files},
    {"report", &add_report, false, &leave_hang_files},
    {"doctor", &add_doctor, false, &hide},
    {"completions", &add_completions},
};

}  // namespace

std::span<const CommandRow> command_rows() { return kRows; }

CommandLine::CommandLine(Abilities abilities)
    : app("mixwalk shows the complete call stacks of .NET processes: native and managed frames, interleaved.",
          "mixwalk") {
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", std::string("mixwalk ") + kVersion, "Print the version and exit");
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.allow_windows_style_options(false);  // on other systems /p is a file
  for (const CommandRow& row : kRows) {
    CLI::App& command = *app.add_subcommand(row.name);
    finish.push_back(row.add(command));
    if (!abilities.processes && row.leave_files != nullptr) row.leave_files(command);
  }
}

}  // namespace mixwalk
