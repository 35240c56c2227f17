#include "walker/cli/doctor_options.h"

namespace mixwalk {
namespace {

constexpr char kDoctorHelp[] =
    "Says what works here and what does not, each in one line with what to do: mixwalk's own files,\n"
    "rights, symbol paths, and of a process its runtime, its diagnostics port, the runtime's debugging\n"
    "library, missing PDBs, and how long its threads stand still when they are dumped for two seconds.\n"
    "0: all works; otherwise the code of the first thing that does not.\n"
    "\n"
    "Examples:\n"
    "  mixwalk doctor\n"
    "  mixwalk doctor -p 4711 --json";

}  // namespace

void add_doctor(CLI::App& app, DoctorArguments& arguments) {
  CLI::App* doctor = app.add_subcommand("doctor", kDoctorHelp);
  auto* id = add_number(*doctor, "-p,--process-id", arguments.id, "The process to look at as well")->option_text("PID");
  doctor->add_option("-n,--name", arguments.name, "The process to look at as well, by its image's name")
      ->option_text("NAME")
      ->excludes(id);
  doctor->add_flag("--json", arguments.json, "Write JSON (docs/doctor.md)");
  doctor->add_flag("--no-trial", arguments.no_trial, "Load nothing into the process, and stop none of its threads");
  doctor
      ->add_option("--symbol-path", arguments.symbol_path,
                   "Where PDBs are looked for beside the images: FOLDER;srv*FOLDER;… (default:\n"
                   "_NT_SYMBOL_PATH); nothing is asked of a network")
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
  if (!command.target && arguments.no_trial) return usage("--no-trial goes with --process-id and --name", "doctor");
  return {.command = std::move(command)};
}

}  // namespace mixwalk
