#pragma once

#include <string>

#include "walker/cli/options/arguments.h"
#include "walker/cli/options/convert_options.h"
#include "walker/cli/options/doctor_options.h"
#include "walker/cli/options/dump_options.h"
#include "walker/cli/options/hang_options.h"
#include "walker/cli/options/record_options.h"
#include "walker/cli/options/symbolise_options.h"

namespace mixwalk {

// All commands with their options, and the values that CLI11 fills in.
struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;  // the app points to the other members
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App app;
  PsCommand ps;
  DumpArguments dump;
  RecordArguments record;
  ConvertArguments convert;
  SymboliseArguments symbolise;
  HangArguments compare, report;
  DoctorArguments doctor;
  std::string shell;  // the value for completions; empty if none was given
};

}  // namespace mixwalk
