#include "walker/cli/options/options.h"

#include <algorithm>
#include <sstream>

#include "walker/base/printable.h"
#include "walker/cli/options/command_line.h"

namespace mixwalk {
namespace {

// The error for an invalid command line: one line, which refers to the help of the command. An empty `command` means
// the help of all commands. `message`: CLI11's have several lines and quote what the user typed.
ParseResult usage(std::string message, const std::string& command) {
  constexpr std::size_t kMaxBytes = 400;
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && (message.back() == ' ' || message.back() == '.')) message.pop_back();
  const std::string help = command.empty() ? "mixwalk --help" : "mixwalk " + command + " --help";
  return {.exit_code = ExitCode::usage,
          .to_stderr = "mixwalk: " + printable(message, kMaxBytes) + " (see " + help + ")\n"};
}

// "ps, dump, record or doctor"
std::string all_commands() {
  const auto rows = command_rows();
  std::string text;
  for (const CommandRow& row : rows) {
    text += (&row == &rows.front() ? "" : &row == &rows.back() ? " or " : ", ") + std::string(row.name);
  }
  return text;
}

// Whether the word is "--output=" without a value. CLI11 would take the value from the next word. That word is another
// option, or a file to read.
bool lacks_value(const std::string& word) { return word.starts_with("--") && word.find('=') == word.size() - 1; }

}  // namespace

ParseResult parse_command_line(const std::vector<std::string>& arguments,
                               const OtelVariables& variables) {
  CommandLine line;
  CLI::App& app = line.app;
  if (arguments.empty()) return {.to_stdout = app.help()};
  // All words after "--" belong to the program. CLI11 would take some of them for a subcommand or an option of
  // mixwalk's own.
  std::vector<std::string> own = arguments, program;
  const auto separator = std::find(own.begin(), own.end(), "--");
  if (separator != own.end()) {
    program.assign(separator + 1, own.end());
    own.erase(separator, own.end());
    if (program.empty()) return usage("no program after --", own.empty() ? "" : own.front());
  }
  const auto rows = command_rows();
  const auto row_of = [&](const std::string& name) { return std::ranges::find(rows, name, &CommandRow::name); };
  const bool is_named = !own.empty() && !own.front().starts_with('-');
  const std::string name = is_named ? own.front() : "";
  if (is_named && row_of(name) == rows.end()) return usage("there is no command \"" + name + "\"", "");
  if (const auto empty = std::ranges::find_if(own, lacks_value); empty != own.end()) {
    return usage(empty->substr(0, empty->size() - 1) + " needs a value", name);
  }
  try {
    std::reverse(own.begin(), own.end());  // CLI11 expects the last word first
    app.parse(own);
    const auto row = row_of(app.get_subcommands().front()->get_name());
    if (!program.empty() && !row->takes_program) refuse(std::string(row->name) + " takes no program");
    return line.finish[static_cast<std::size_t>(row - rows.begin())]({std::move(program), variables});
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const auto chosen = app.get_subcommands();
      if (chosen.empty()) return usage("no command: " + all_commands(), "");
      return usage(sentence(error, *chosen.front()), chosen.front()->get_name());
    }
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
