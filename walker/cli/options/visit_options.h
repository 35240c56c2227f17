#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/command_line.h"

namespace mixwalk {

// The options that dump and record have in common: the process, its threads, how they are walked, and the time limits.
// Visit has the values of the others.
struct VisitArguments {
  ProcessArguments process;
  std::vector<std::string> program;
  std::optional<std::string> canary;
  std::vector<std::string> threads;
  bool takes_file = false;  // whether the command takes a dump file as well
};

// The headings under which help lists the options of dump and record.
inline constexpr char kTargetGroup[] = "Process";
inline constexpr char kOutputGroup[] = "Output";
inline constexpr char kExpertGroup[] = "For experts";

// The options that most people need: the process and its threads. `verb`: "dump" or "record", for the help.
void add_target(CLI::App& app, VisitArguments& arguments, const std::string& verb);
// The options of how threads are walked, and how long is waited.
void add_walk(CLI::App& app, VisitArguments& arguments, Visit& visit);
// The program is that after "--". Refuses a program that is an argument.
void take_program(VisitArguments& arguments, Given& given);
// The ids and names in --thread. A number is always an id, so a thread whose name is a number cannot be named.
ThreadSelection threads_in(std::vector<std::string>& threads);
// Checks the options, and completes `visit`.
void finish_visit(const CLI::App& app, VisitArguments& arguments, Visit& visit);

}  // namespace mixwalk
