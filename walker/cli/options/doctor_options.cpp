#include "walker/cli/options/doctor_options.h"

namespace mixwalk {
namespace {

constexpr char kDoctorHelp[] =
    "Says what works on this machine and what does not, in one line for each check, with what to do.\n"
    "It checks mixwalk's own files, rights and symbol paths. Of a process it checks the runtime, the\n"
    "diagnostics port, the runtime's debugging library, missing PDBs, and how long threads are\n"
    "suspended while they are dumped for two seconds. The exit code is 0 if everything works,\n"
    "otherwise that of the first check that failed.\n"
    "\n"
    "Examples:\n"
    "  mixwalk doctor\n"
    "  mixwalk doctor -p 4711 --json";

}  // namespace

void add_doctor(CLI::App& app, DoctorArguments& arguments) {
  CLI::App* doctor = app.add_subcommand("doctor", kDoctorHelp);
  auto* id = add_number(*doctor, "-p,--process-id", arguments.id, "Also check this process")->option_text("PID");
  doctor->add_option("-n,--name", arguments.name, "Also check this process, by its image's name")
      ->option_text("NAME")
      ->excludes(id);
  doctor->add_flag("--json", arguments.json, "Write JSON (docs/doctor.md)");
  doctor->add_flag("--no-trial", arguments.no_trial, "Load nothing into the process, and stop none of its threads");
  doctor
      ->add_option("--symbol-path", arguments.symbol_path,
                   "Where to look for PDBs, in addition to the folders of the images:\n"
                   "FOLDER;srv*FOLDER;… (default: _NT_SYMBOL_PATH). mixwalk does not look on the network")
      ->option_text("PATH");
}

ParseResult finish_doctor(const DoctorArguments& arguments) {
  if (arguments.name && arguments.name->empty()) return usage("--name must not be empty", "doctor");
  DoctorCommand command{.target = std::nullopt,
                        .json = arguments.json,
                        .trial = !arguments.no_trial,
                        .symbol_path = arguments.symbol_path};
  if (arguments.id) command.target = ById{*arguments.id};
  if (arguments.name) command.target = ByName{*arguments.name};
  if (!command.target && arguments.no_trial) return usage("--no-trial needs --process-id or --name", "doctor");
  return {.command = std::move(command)};
}

}  // namespace mixwalk
