#include <memory>

#include "walker/cli/options/output_options.h"

namespace mixwalk {
namespace {

constexpr char kDoctorHelp[] =
    "Says what works on this machine and what does not, in one line for each check, with what to do. It checks "
    "mixwalk's "
    "own files, rights and symbol paths. Of a process it checks the runtime, the diagnostics port, the runtime's "
    "debugging "
    "library, missing PDBs, and how long threads are suspended while they are dumped for two seconds. The exit code is "
    "0 "
    "if everything works, otherwise that of the first check that failed.\n"
    "\n"
    "Examples:\n"
    "  mixwalk doctor\n"
    "  mixwalk doctor -p 4711 --json";

struct DoctorArguments {
  DoctorCommand command;
  ProcessArguments process;
};

}  // namespace

Finish add_doctor(CLI::App& app) {
  const auto arguments = std::make_shared<DoctorArguments>();
  DoctorCommand& command = arguments->command;
  app.description(kDoctorHelp);
  CLI::Option* const id = add_process(app, arguments->process, "Also check this process");
  app.get_option("--name")->excludes(id);
  add_list_format(app, command.format);
  app.add_flag_callback("--no-trial", [&command] { command.trial = false; },
                        "Load nothing into the process, and stop none of its threads");
  add_symbols(app, command.symbols, kPdbsOfImages);
  return [arguments, &command](Given) -> ParseResult {
    command.target = process_in(arguments->process);
    if (!command.target && !command.trial) refuse("--no-trial needs --process-id or --name");
    return {.command = std::move(command)};
  };
}

}  // namespace mixwalk
