#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/options.h"

namespace mixwalk {

// Stores with an option the words that the option takes, for completions (command_table.h). CLI11 has no place for
// these words. This does not check the option's value.
void set_words(CLI::Option& option, const std::vector<std::string>& words);
// The words that set_words stored; empty if the option takes any value, or no value.
std::vector<std::string> words_of(CLI::Option& option);

template <class Value>
std::vector<std::string> words_in(const std::map<std::string, Value>& words) {
  std::vector<std::string> all;
  for (const auto& [word, value] : words) all.push_back(word);
  return all;
}

// The kinds of options of which the commands consist. Only the …options.cpp files include this header, because CLI11
// takes long to compile.

// An option that takes one of these words and nothing else. (CLI11's own transformer would also take the number of a
// word, and its error messages are written for programmers.)
template <class Value, class Target>
CLI::Option* add_choice(CLI::App& app, const std::string& flags,
                        const std::map<std::string, Value>& words, Target& target,
                        const std::string& help) {
  CLI::Option* const option = app.add_option_function<std::string>(
      flags,
      [&words, &target, flags](const std::string& text) {
        const auto found = words.find(text);
        if (found != words.end()) {
          target = found->second;
          return;
        }
        std::string all;
        for (const auto& [word, value] : words) all += (all.empty() ? "" : ", ") + word;
        throw CLI::ValidationError(flags.substr(flags.find("--")),
                                   "\"" + text + "\" is none of " + all);
      },
      help);
  set_words(*option, words_in(words));
  return option;
}

// A decimal number of at least 1.
CLI::Option* add_number(CLI::App& app, const std::string& flags,
                        std::optional<std::uint32_t>& target, const std::string& help);
// An option that takes one text, and may be given several times.
CLI::Option* add_list(CLI::App& app, const std::string& flags, std::vector<std::string>& target,
                      const std::string& help);
// Returns nothing if the text is not such a number.
std::optional<std::uint32_t> to_number(const std::string& text);
CLI::Validator duration_validator();
// For options that people give in milliseconds. A number without a unit would mean seconds, so it is refused.
CLI::Validator duration_with_unit_validator();

// Formats the help. The usage line of a command names its target, and the list of all commands has one line per
// command.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option_usage(const CLI::Option* argument) const override;
};

// Says what is wrong, in words for a user, since CLI11's own messages speak of types and counts. `command`: the app, or
// the command of the app, that was parsed.
std::string sentence(const CLI::ParseError& error, const CLI::App& command);

// The error for an invalid command line: one line, which refers to the help of the command. An empty `command` means
// the help of all commands.
ParseResult usage(const std::string& message, const std::string& command);

}  // namespace mixwalk
