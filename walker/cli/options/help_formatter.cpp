#include "walker/cli/options/help_formatter.h"

#include <algorithm>
#include <sstream>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::size_t kNameColumns = 28;  // of the names of options, with the space before and after them
constexpr std::size_t kCommandColumns = 15;

// The number of characters. The help is UTF-8, and none of its characters is wide.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::string paragraph(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kHelpColumns)) lines += line + "\n";
  return lines;
}

// "  NAME    text", with more lines of text below. A long name has a line of its own.
std::string item(const std::string& name, const std::string& text, std::size_t width) {
  std::string begin = "  " + name;
  std::string lines;
  if (columns_of(begin) + 1 >= width) {
    lines = begin + "\n";
    begin.clear();
  }
  for (const std::string& line : wrapped(text, kHelpColumns - width)) {
    begin.append(width - columns_of(begin), ' ');
    lines += begin + line + "\n";
    begin.clear();
  }
  return lines;
}

// "-p, --process-id PID"
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  const std::string text = option.get_option_text();
  return names + (names.empty() || text.empty() ? "" : " ") + text;
}

std::string options_of(const CLI::App& app) {
  std::string all, group;
  for (const CLI::Option* option : shown_options(app)) {
    // --help ends the last group.
    if (option != app.get_help_ptr() && option->get_group() != group) {
      group = option->get_group();
      all += "\n" + group + ":\n";
    }
    all += item(names_of(*option), option->get_description(), kNameColumns);
  }
  return all;
}

// The first sentence of the summary.
std::string in_one_line(const CLI::App& command) {
  std::string what = help_text(command.get_description()).summary;
  std::ranges::replace(what, '\n', ' ');
  what.resize(std::min(what.size(), what.find(". ")));
  if (what.ends_with('.')) what.pop_back();
  return what;
}

std::string commands_of(const CLI::App& app) {
  std::string all;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    all += item(command->get_name(), in_one_line(*command), kCommandColumns);
  }
  return all.empty() ? all : "\nCommands:\n" + all;
}

}  // namespace

HelpText help_text(const std::string& description) {
  HelpText text;
  for (std::size_t begin = 0; begin < description.size();) {
    const std::size_t end = std::min(description.find("\n\n", begin), description.size());
    const std::string part = description.substr(begin, end - begin);
    if (begin != 0 && part.starts_with("Example")) {
      std::istringstream lines(part.substr(std::min(part.size(), part.find('\n') + 1)));
      for (std::string line; std::getline(lines, line);) {
        text.examples.push_back(line.substr(std::min(line.size(), line.find_first_not_of(' '))));
      }
    } else if (begin == 0) {
      text.summary = part;
    } else {
      text.notes.push_back(part);
    }
    begin = end + 2;
  }
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (lines.empty() || columns_of(lines.back()) + 1 + columns_of(word) > columns) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty() && option.get_group() != kNotOnThisSystem;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  const auto all = app.get_options(
      [&](const CLI::Option* each) { return is_shown(*each) && each != app.get_help_ptr(); });
  std::vector<std::string> groups;
  for (const CLI::Option* option : all) {
    if (std::ranges::find(groups, option->get_group()) == groups.end()) groups.push_back(option->get_group());
  }
  std::vector<const CLI::Option*> shown;
  for (const std::string& group : groups) {
    for (const bool argument : {true, false}) {
      std::ranges::copy_if(all, std::back_inserter(shown), [&](const CLI::Option* option) {
        return option->get_group() == group && option->get_positional() == argument;
      });
    }
  }
  if (app.get_help_ptr() != nullptr) shown.push_back(app.get_help_ptr());
  return shown;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  if (!app->get_subcommands([](const CLI::App*) { return true; }).empty())
    return "Usage: " + name + " COMMAND [OPTIONS]\n";
  std::string line = "Usage: " + name + " [OPTIONS]";
  const CLI::Option* const id = app->get_option_no_throw("--process-id");
  const CLI::Option* const program = app->get_option_no_throw("program");
  std::string arguments;
  for (const CLI::Option* argument : app->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    if (is_shown(*argument)) arguments += (arguments.empty() ? "" : " ") + argument->get_option_text();
  }
  if (program != nullptr && is_shown(*id)) {
    line +=
        " (--process-id PID | --name NAME" + (arguments.empty() ? "" : " | " + arguments) + " | -- PROGRAM ARGS...)";
  } else if (!arguments.empty()) {
    line += " " + arguments;
  }
  return line + "\n";
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const HelpText text = help_text(app->get_description());
  std::string help = paragraph(text.summary) + "\n" + make_usage(app, name);
  if (!text.examples.empty()) help += text.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const std::string& example : text.examples) help += "  " + example + "\n";
  help += commands_of(*app) + options_of(*app);
  for (const std::string& note : text.notes) help += "\n" + paragraph(note);
  return help;
}

}  // namespace mixwalk
