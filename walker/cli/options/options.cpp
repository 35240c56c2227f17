#include "walker/cli/options/options.h"

#include <algorithm>
#include <sstream>

#include "walker/base/near_match.h"
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

// "ps, dump, record or doctor": those that the help lists.
std::string all_commands(const CLI::App& app) {
  const auto shown = app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  std::string text;
  for (const CLI::App* command : shown) {
    text += (text.empty() ? "" : command == shown.back() ? " or " : ", ") + command->get_name();
  }
  return text;
}

// "there is no command "dmup": did you mean dump?"
std::string no_command(const std::string& name, const CLI::App& app) {
  std::vector<std::string> names = {"--version"};
  for (const CommandRow& row : command_rows()) names.emplace_back(row.name);
  const std::string near = near_match(name, names);
  return "there is no command \"" + name + "\"" +
         (near.empty() ? ": " + all_commands(app) : ": did you mean " + near + "?");
}

// The command line with --help in place of other spellings: "help dump", "dump /?", "-?".
std::vector<std::string> with_help_option(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  for (std::string& word : words) {
    if (word == "/?" || word == "-?") word = "--help";
  }
  return words;
}

// A word such as "-name", which is meant as "--name". CLI11 would read it as the option -n with the value "ame".
// Returns an empty text if there is none.
std::string one_dash_word(const std::vector<std::string>& words, const CLI::App& command) {
  for (const std::string& word : words) {
    constexpr std::size_t kShortAndOne = 3;  // "-o" and one letter of a value
    if (!word.starts_with('-') || word.starts_with("--") || word.size() <= kShortAndOne) continue;
    if (command.get_option_no_throw("-" + word.substr(0, word.find('='))) != nullptr) return word;
  }
  return {};
}

// Whether the word is "--output=" without a value. CLI11 would take the value from the next word. That word is another
// option, or a file to read.
bool lacks_value(const std::string& word) { return word.starts_with("--") && word.find('=') == word.size() - 1; }

}  // namespace

ParseResult parse_command_line(const std::vector<std::string>& arguments, const OtelVariables& variables,
                               Abilities abilities) {
  CommandLine line(abilities);
  CLI::App& app = line.app;
  if (arguments.empty()) return {.to_stdout = app.help()};
  // All words after "--" belong to the program. CLI11 would take some of them for a subcommand or an option of
  // mixwalk's own.
  std::vector<std::string> own = arguments, program;
  const auto separator = std::find(own.begin(), own.end(), "--");
  const bool separated = separator != own.end();
  if (separated) {
    program.assign(separator + 1, own.end());
    own.erase(separator, own.end());
  }
  own = with_help_option(std::move(own));
  const auto rows = command_rows();
  const auto row_of = [&](const std::string& name) { return std::ranges::find(rows, name, &CommandRow::name); };
  const bool is_named = !own.empty() && !own.front().starts_with('-');
  const std::string name = is_named ? own.front() : "";
  if (is_named && row_of(name) == rows.end()) return usage(no_command(name, app), "");
  if (separated && program.empty()) return usage("no program after --", name);
  if (const auto empty = std::ranges::find_if(own, lacks_value); empty != own.end()) {
    return usage(empty->substr(0, empty->size() - 1) + " needs a value", name);
  }
  if (is_named) {
    if (const std::string word = one_dash_word(own, *app.get_subcommand(name)); !word.empty()) {
      return usage("there is no option \"" + word + "\": did you mean -" + word.substr(0, word.find('=')) + "?", name);
    }
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
      if (chosen.empty()) return usage("no command: " + all_commands(app), "");
      return usage(sentence(error, *chosen.front()), chosen.front()->get_name());
    }
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
