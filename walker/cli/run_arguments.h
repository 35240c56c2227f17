#pragma once

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "walker/cli/dump_file.h"
#include "walker/cli/input_names.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"

namespace mixwalk {

// Parses the command line, and calls `run` with the command that it means, or prints what it asks for instead: help, or
// what is wrong. `list_folder`: as for expand_inputs().
template <class Run>
ExitCode run_arguments(const std::vector<std::string>& arguments, const ListFolder& list_folder, const Run& run,
                       Abilities abilities = {}) {
  ParseResult parsed = parse_command_line(arguments, otel_variables(), abilities);
  if (parsed.command) {
    if (const auto failure = expand_inputs(*parsed.command, list_folder)) return print_failure(*failure);
    return std::visit(run, *parsed.command);
  }
  if (!parsed.to_stdout.empty()) return print(parsed.to_stdout);
  std::fputs(parsed.to_stderr.c_str(), stderr);
  return parsed.exit_code;
}

// Calls the run() that this program declares for the command. That for dump files takes the services of this machine.
template <class Command>
ExitCode run_here(const Command& command, const DumpFileServices& host) {
  if constexpr (requires { run(command); }) {
    return run(command);
  } else if constexpr (requires { run(command, host); }) {
    return run(command, host);
  } else {
    return print_failure({ExitCode::usage,
                          "only convert, symbolise, compare, report and dump FILE.dmp work here: processes are looked "
                          "at on Windows"});
  }
}

}  // namespace mixwalk
