#include "tests/support/options_page.h"

#include <algorithm>

namespace mixwalk {
namespace {

// Returns text for a cell of a table, or for a paragraph, as one line.
std::string markdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '|': escaped += "\\|"; break;
      case '*': escaped += "\\*"; break;
      case '<': escaped += "&lt;"; break;
      case '\n': escaped += ' '; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string paragraphs(const std::string& text) {
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    all += markdown(text.substr(begin, end - begin)) + "\n\n";
    begin = end + 2;
  }
  return all;
}

std::string row(const OptionInfo& option) {
  std::string shown;
  for (const std::string& name : option.names) shown += (shown.empty() ? "" : ", ") + name;
  if (!option.text.empty()) shown += (shown.empty() ? "" : " ") + option.text;
  return "| `" + shown + "` | " + markdown(option.help) + " |\n";
}

// Where the command can be used, if not everywhere.
std::string systems(const CommandInfo& command) {
  if (command.on_windows_only) return "Only on Windows.\n\n";
  std::string portable;
  bool all = true;
  for (const OptionInfo& option : command.options) {
    all = all && !option.on_windows_only;
    if (option.on_windows_only) continue;
    const auto name =
        std::ranges::find_if(option.names, [](const std::string& each) { return each.starts_with("--"); });
    portable += (portable.empty() ? "`" : ", `") + (name == option.names.end() ? option.text : *name) + "`";
  }
  return all ? "" : "On Linux it has only these: " + portable + ".\n\n";
}

std::string code(const std::string& lines) { return "```\n" + lines + "\n```\n"; }

}  // namespace

std::string options_page(const std::vector<CommandInfo>& commands) {
  std::string page =
      "# Commands and options\n\n"
      "What `mixwalk COMMAND --help` says. This page and the [man page](mixwalk.1) are made from the definitions by "
      "which\n"
      "mixwalk reads its command line.\n";
  for (const CommandInfo& command : commands) {
    page += "\n## " + (command.name.empty() ? "mixwalk" : command.name) + "\n" + paragraphs(command.description) +
            systems(command) + code(command.usage);
    std::string group;
    for (const OptionInfo& option : command.options) {
      if (option.group != group) page += "\n| " + option.group + " | |\n|---|---|\n";
      group = option.group;
      page += row(option);
    }
    if (!command.examples.empty()) page += "\n" + code(command.examples);
  }
  return page;
}

}  // namespace mixwalk
