#include "walker/cli/options/command_line.h"

#include <map>

#include "walker/base/version.h"

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

constexpr char kCompletionsHelp[] =
    "Writes the script by which a shell completes commands, options and their values.\n"
    "\n"
    "Examples:\n"
    "  eval \"$(mixwalk completions bash)\"\n"
    "  mixwalk completions powershell | Out-String | Invoke-Expression";

void add_completions(CLI::App& app, std::string& shell) {
  CLI::App* completions = app.add_subcommand("completions", kCompletionsHelp);
  CLI::Option* const option = completions->add_option("shell", shell, "bash or powershell")->option_text("SHELL");
  set_words(*option, {"bash", "powershell"});
}

}  // namespace

CommandLine::CommandLine()
    : app("mixwalk shows the complete call stacks of .NET processes: native and managed frames, interleaved.",
          "mixwalk") {
  app.set_version_flag("--version", std::string("mixwalk ") + kVersion);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.allow_windows_style_options(false);  // on other systems /p is a file
  add_ps(app, ps);
  add_dump(app, dump);
  add_record(app, record);
  add_convert(app, convert);
  add_symbolise(app, symbolise);
  add_compare(app, compare);
  add_report(app, report);
  add_doctor(app, doctor);
  add_completions(app, shell);
}

}  // namespace mixwalk
