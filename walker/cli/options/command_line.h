#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// What a command gets besides the values of its options.
struct Given {
  std::vector<std::string> program;  // the words after "--"
  const OtelVariables& variables;
};

// Checks the values of a command's options, and returns the command that they mean. Refuses the command line (refuse())
// if they mean none.
using Finish = std::function<ParseResult(Given given)>;

// One command of mixwalk. The parser, the help, the completions and the documents all follow from this table.
struct CommandRow {
  const char* name;
  // Gives the command its help and its options. The result keeps their values.
  Finish (*add)(CLI::App& command);
  bool takes_program = false;  // whether words may follow "--"
  // Leaves in the help only what is possible without looking at processes. Null if all of it is possible.
  void (*leave_files)(CLI::App& command) = nullptr;
};

// In the order in which the help lists them. What a command does is run() for its alternative of Command.
std::span<const CommandRow> command_rows();

// The table in the form of CLI11.
struct CommandLine {
  explicit CommandLine(Abilities abilities = {});
  CommandLine(const CommandLine&) = delete;  // the app points to the values
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App app;
  std::vector<Finish> finish;  // of each row
};

// Each in a file of its own.
Finish add_dump(CLI::App& app);
void leave_dump_files(CLI::App& app);
Finish add_record(CLI::App& app);
Finish add_convert(CLI::App& app);
Finish add_symbolise(CLI::App& app);
Finish add_compare(CLI::App& app);
Finish add_report(CLI::App& app);
void leave_hang_files(CLI::App& app);
Finish add_doctor(CLI::App& app);

}  // namespace mixwalk
