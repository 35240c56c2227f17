#include "walker/cli/output/doctor_report.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/doctor_checks.h"
#include "walker/cli/win/visit.h"

namespace mixwalk {

ExitCode run(const DoctorCommand& command) {
  DoctorReport found;
  found.lines = look_at_machine(command.symbols);
  if (command.target) {
    const auto id = process_of(*command.target);
    if (id) {
      found.process_id = *id;
      look_at_process(*id, command.trial, command.symbols, found);
    } else {
      found.lines.push_back({.state = DoctorLine::State::bad,
                              .check = "process",
                              .found = id.failure().message,
                              .code = id.failure().code});
    }
  }
  const std::string text = command.format == Format::json ? doctor_json(found) : doctor_text(found);
  if (const ExitCode code = print(text); code != ExitCode::ok) return code;
  const auto failure = failure_of(found);
  return failure ? print_failure(*failure) : ExitCode::ok;
}

}  // namespace mixwalk
