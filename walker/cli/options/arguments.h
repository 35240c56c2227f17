#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/duration.h"
#include "walker/cli/options/options.h"

namespace mixwalk {

// Stores with an option the words that the option takes, for completions (command_table.h). CLI11 has no place for
// these words. This does not check the option's value.
void set_words(CLI::Option& option, const std::vector<std::string>& words);
// The words that set_words stored; empty if the option takes any value, or no value.
std::vector<std::string> words_of(const CLI::Option& option);

template <class Value>
std::vector<std::string> words_in(const std::map<std::string, Value>& words) {
  std::vector<std::string> all;
  for (const auto& [word, value] : words) all.push_back(word);
  return all;
}

// The kinds of options of which the commands consist. Only the …options.cpp files include this header, because CLI11
// takes long to compile.

// Refuses the command line, with one line that says why. parse_command_line() adds which help to read.
[[noreturn]] void refuse(const std::string& message);
// The long name of the option with these flags, "-r,--rate": "--rate".
std::string long_name(const std::string& flags);
// Refuses the text that was given for the option with these flags: `--rate: "x" is no number`.
[[noreturn]] void refuse_text(const std::string& flags, const std::string& text, const std::string& why);

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
        if (found == words.end()) refuse_text(flags, text, "is none of " + CLI::detail::join(words_in(words), ", "));
        target = found->second;
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
// An option that takes a duration, and stores its milliseconds. `target`: std::uint32_t, or an optional one.
template <class Target>
CLI::Option* add_duration(CLI::App& app, const std::string& flags, Target& target, const std::string& help) {
  const auto store = [&target, flags](const std::string& text) {
    if (const std::string why = duration_fault(text); !why.empty()) refuse(long_name(flags) + ": " + why);
    target = *parse_duration(text);
  };
  return app.add_option_function<std::string>(flags, store, help)->option_text("DURATION");
}

// Options that several commands have.

// --process-id and --name. `what` begins their help: "The process to dump".
struct ProcessArguments {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
};
// Returns the option --process-id.
CLI::Option* add_process(CLI::App& app, ProcessArguments& arguments, const std::string& what);
// The process that they name. Returns nothing if neither was given. Refuses an empty name.
std::optional<TargetChoice> process_in(const ProcessArguments& arguments);

// --symbol-path. `where` begins its help, and ends before "(default: …".
void add_symbol_path(CLI::App& app, SymbolChoice& symbols, const std::string& where);
// The same, --symbols and --symbol-limits.
void add_symbols(CLI::App& app, SymbolChoice& symbols, const std::string& where);
inline constexpr char kPdbsOfImages[] =
    "Where to look for PDBs, in addition to the folders of the images: FOLDER;srv*FOLDER;… ";

void add_verbose(CLI::App& app, bool& verbose);

// "-p" for "/p", as programs of Windows have it. Empty if it is no such word.
std::string meant_by_slash(const std::string& word, const CLI::App& command);

// The message about a word that is no option, of a command that takes processes: `unexpected "412": did you mean -p
// 412?`
std::string misplaced(const std::string& word, bool takes_program);

// Says what is wrong and what to write instead, since CLI11's own messages speak of types and counts. `command`: the
// app, or the command of the app, that was parsed.
std::string sentence(const CLI::ParseError& error, const CLI::App& command);

}  // namespace mixwalk
