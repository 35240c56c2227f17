#pragma once

#include <string>
#include <vector>

namespace mixwalk {

// The commands and their options as values, from which completions, the man page and docs/options.md are generated.
// They are read from the same definitions that parse the command line.

// An option; or an argument, which has no name.
struct OptionInfo {
  // What a value is, so that a shell can offer some.
  enum class Value { none, word, file, folder, other };

  std::vector<std::string> names;  // "-p", "--process-id"; of an argument none
  std::string text;                // how help writes the value: "PID"
  std::string help;                // its lines end where those of --help do
  Value value = Value::none;
  bool value_may_be_missing = false;  // of --otlp
  std::vector<std::string> words;     // of Value::word
};

struct CommandInfo {
  std::string name;         // empty means mixwalk itself
  std::string usage;        // one line, which begins with "mixwalk"
  std::string description;  // paragraphs, with an empty line between them
  std::string examples;     // a command line each; empty if there are none
  std::vector<OptionInfo> options;
};

// mixwalk itself comes first. Options that --help does not show are left out.
std::vector<CommandInfo> command_table();

}  // namespace mixwalk
