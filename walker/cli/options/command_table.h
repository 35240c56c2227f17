#pragma once

#include <string>
#include <vector>

namespace mixwalk {

// The commands and their options as values, from which completions, the man page and docs/options.md are generated.
// They are read from the same definitions that parse the command line.

// An option, or an argument, which has no name.
struct OptionInfo {
  // The kind of the value, so that a shell can offer some values.
  enum class Value { none, word, file, folder, other };

  std::vector<std::string> names;  // "-p", "--process-id"; empty for an argument
  std::string text;                // how help writes the value: "PID"
  std::string help;
  std::string group;             // the heading under which help lists it
  bool on_windows_only = false;  // since only there mixwalk looks at processes
  Value value = Value::none;
  bool value_may_be_missing = false;  // true for --otlp
  std::vector<std::string> words;     // for Value::word
};

struct CommandInfo {
  std::string name;         // empty for mixwalk itself
  std::string usage;        // one line, which begins with "mixwalk"
  std::string description;  // paragraphs, with an empty line between them
  std::string examples;     // one command line each; empty if there are none
  bool on_windows_only = false;
  std::vector<OptionInfo> options;
};

// The commands, with mixwalk itself as the first. Options that --help does not show are left out.
std::vector<CommandInfo> command_table();

}  // namespace mixwalk
