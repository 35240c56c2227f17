#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// The options that dump and record have in common: the process, its threads, how they are walked, and the time limits.
struct VisitArguments {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
  std::vector<std::string> program;
  std::optional<std::string> after;
  std::string timeout = "30s";
  std::string wait = "0s";
  std::optional<std::string> deadline;
  std::optional<ProbePolicy> probe;
  std::optional<std::string> canary;
  std::vector<std::string> threads;
};

// `verb`: "dump" or "record", for the help.
void add_visit(CLI::App& app, VisitArguments& arguments, Visit& visit, const char* verb);
// The ids and names in --thread. A number is always an id, so a thread whose name is a number cannot be named. Returns
// an error, or nothing if the options are valid.
std::optional<ParseResult> finish_threads(std::vector<std::string>& threads, const std::string& command,
                                          ThreadSelection& selection);
// Returns an error, or nothing if the options are valid; `visit` then has them.
std::optional<ParseResult> finish_visit(VisitArguments& arguments, const std::string& command,
                                        Visit& visit);

}  // namespace mixwalk
