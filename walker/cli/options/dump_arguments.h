#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "walker/cli/options/visit_options.h"

namespace mixwalk {

// The options by which dump and report take dumps of a process. DumpCommand has the values of the others.
struct DumpArguments {
  VisitArguments visit;
  std::optional<std::string> format;
  std::optional<std::uint32_t> repeat, after_ms;
  bool one_by_one = false;
  DumpCommand command;
};

using OptionNames = std::initializer_list<const char*>;

// Options that only mixwalk.dll can follow.
inline constexpr OptionNames kDllOptions = {"--engine", "--probe", "--canary", "--wait", "--timeout"};
// From outside, a single thread is suspended only while its registers and its stack are copied.
inline constexpr OptionNames kFreezeOptions = {"--deadline"};

// Refuses the first option that was given of these. `where`: "with a dump file".
void refuse_given(const CLI::App& app, std::initializer_list<OptionNames> lists, const std::string& where);

// Adds --repeat, --every and --one-by-one. `repeat`: the first sentence of the help of --repeat.
void add_series(CLI::App& app, DumpArguments& arguments, const std::string& repeat);
// Adds --outside and --inside.
void add_capture(CLI::App& app, DumpCommand& command);
// Checks the options about the process, and how it is dumped, and completes the command. `least`: the least number of
// dumps that --repeat takes.
void finish_process(const CLI::App& app, DumpArguments& arguments, std::uint32_t least);

}  // namespace mixwalk
