#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The longest line of a help text, in characters.
inline constexpr std::size_t kHelpColumns = 100;

// The description of a command in its parts. In a description, an empty line ends a paragraph. The last paragraph may
// be "Examples:", with one command line on each of the lines below.
struct HelpText {
  std::string summary;             // the first paragraph
  std::vector<std::string> notes;  // the paragraphs after it
  std::vector<std::string> examples;
};
HelpText help_text(const std::string& description);

// The text in lines of at most `columns` characters. A longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

// The group of options that help does not show, because they cannot be used on this system. (An empty group would also
// take their names out of CLI11's messages.)
inline constexpr char kNotOnThisSystem[] = "not on this system";
bool is_shown(const CLI::Option& option);

// The options and arguments that the help of a command shows, in the order of the help: arguments first, then by their
// groups, with --help as the last one.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

// Formats the help: what the command does, how it is called, examples, the options by their groups, and the other
// paragraphs of the description. The usage line of a command names its target. The list of all commands has one line
// for each command.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
};

}  // namespace mixwalk
