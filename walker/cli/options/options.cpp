#include "walker/cli/options/options.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/base/near_match.h"
#include "walker/base/printable.h"
#include "walker/cli/options/command_line.h"
#include "walker/cli/options/thread_selection.h"

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

// "ps, dump, record or doctor": those that the help lists. `last`: "or" or "and".
std::string all_commands(const CLI::App& app, const std::string& last = "or") {
  const auto shown = app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  std::string text;
  for (const CLI::App* command : shown) {
    text += (text.empty() ? "" : command == shown.back() ? " " + last + " " : ", ") + command->get_name();
  }
  return text;
}

// Words of other tools for what a command does.
struct OtherWord {
  std::string_view word, command;
};
constexpr OtherWord kOtherWords[] = {
    {"analyse", "report"}, {"analyze", "report"}, {"attach", "dump"},   {"check", "doctor"},   {"collect", "record"},
    {"diff", "compare"},   {"export", "convert"}, {"list", "ps"},       {"open", "report"},    {"profile", "record"},
    {"sample", "record"},  {"show", "report"},    {"stack", "dump"},    {"stacks", "dump"},    {"trace", "record"},
    {"view", "report"},
};

// The command line that a user presumably meant by a word that is no command: "dump -p 4711". Empty if none is known.
std::string meant_command(const std::string& word) {
  if (parse_id(word)) return "dump -p " + word;
  const std::string lower = ascii_lower(word);
  if (lower.ends_with(".dmp")) return "dump " + word;
  if (lower.ends_with(".mixwalk")) return "report " + word + ", or convert " + word;
  if (lower.ends_with(".exe")) return "dump -- " + word;
  const auto* const other = std::ranges::find(kOtherWords, lower, &OtherWord::word);
  if (other != std::end(kOtherWords)) return std::string(other->command);
  std::vector<std::string> names = {"--version", "help"};
  for (const CommandRow& row : command_rows()) names.emplace_back(row.name);
  return near_match(word, names);
}

// "there is no command "dmup": did you mean dump?"
std::string no_command(const std::string& name, const CLI::App& app) {
  const std::string meant = meant_command(name);
  return "there is no command \"" + name + "\"" +
         (meant.empty() ? ": " + all_commands(app) : ": did you mean " + meant + "?");
}

// What is wrong with a command line that begins with an option, which is not one of mixwalk itself.
std::string no_command_first(const std::vector<std::string>& words, const CLI::App& app) {
  const std::string& first = words.front();
  const auto command = std::ranges::find_if(words, [](const std::string& word) {
    return std::ranges::find(command_rows(), word, &CommandRow::name) != command_rows().end();
  });
  if (command != words.end()) {
    return "\"" + first + "\" goes after the command: mixwalk " + *command + " " + first + " …";
  }
  const std::vector<std::string> own = {"--version", "--help"};
  const std::string near = near_match("--" + first.substr(first.find_first_not_of('-')), own);
  if (!near.empty()) return "there is no option \"" + first + "\": did you mean " + near + "?";
  return "no command: " + all_commands(app);
}

// The command line with --help in place of other spellings: "help dump", "dump /?", "-?".
std::vector<std::string> with_help_option(std::vector<std::string> words) {
  if (!words.empty() && ascii_lower(words.front()) == "help") {
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

// A word such as "-f=text", which CLI11 would read as the value "=text". Returns an empty text if there is none.
std::string equals_word(const std::vector<std::string>& words, const CLI::App& command) {
  const auto word = std::ranges::find_if(words, [&](const std::string& one) {
    return one.size() > 2 && one[0] == '-' && one[1] != '-' && one[2] == '=' &&
           command.get_option_no_throw(one.substr(0, 2)) != nullptr;
  });
  return word == words.end() ? "" : *word;
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
    if (const std::string word = equals_word(own, *app.get_subcommand(name)); !word.empty()) {
      return usage("unexpected \"" + word + "\": did you mean " + word.substr(0, 2) + " " + word.substr(3) + "?", name);
    }
  } else if (!own.empty() && app.get_option_no_throw(own.front()) == nullptr) {
    return usage(no_command_first(own, app), "");
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
      const CLI::App& command = *chosen.front();
      if (command.get_group().empty()) {
        return usage(command.get_name() + " works on Windows only; here there are " + all_commands(app, "and"), "");
      }
      return usage(sentence(error, command), command.get_name());
    }
    std::ostringstream out, unused;
    app.exit(error, out, unused);
    return {.to_stdout = out.str()};
  }
}

}  // namespace mixwalk
