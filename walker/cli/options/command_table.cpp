#include "walker/cli/options/command_table.h"

#include <algorithm>
#include <string_view>

#include "walker/cli/options/command_line.h"
#include "walker/cli/options/help_formatter.h"

namespace mixwalk {
namespace {

// The names by which the definitions of the options denote values that are files or folders.
constexpr std::string_view kFiles[] = {"DUMP", "FILE", "FILE…", "FILE.dmp", "IN", "OUT"};
constexpr std::string_view kFolders[] = {"FOLDER", "PATH"};

OptionInfo::Value value_kind(const CLI::Option& option, const OptionInfo& info) {
  using Value = OptionInfo::Value;
  if (option.get_expected_max() == 0) return Value::none;
  if (!info.words.empty()) return Value::word;
  if (std::ranges::find(kFiles, info.text) != std::end(kFiles)) return Value::file;
  if (std::ranges::find(kFolders, info.text) != std::end(kFolders)) return Value::folder;
  return Value::other;
}

OptionInfo option_info(const CLI::Option& option) {
  OptionInfo info{.text = option.get_option_text(), .help = option.get_description()};
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.group = option.get_group();
  info.words = words_of(option);
  info.value = value_kind(option, info);
  info.value_may_be_missing = option.get_expected_min() == 0;
  return info;
}

CommandInfo command_info(const CLI::App& app, const std::string& line) {
  CommandInfo info;
  info.name = app.get_name() == line ? "" : app.get_name();
  const std::string usage = HelpFormatter().make_usage(&app, line);
  const std::size_t begin = usage.find(line);
  info.usage = usage.substr(begin, usage.find('\n', begin) - begin);
  const HelpText text = help_text(app.get_description());
  info.description = text.summary;
  for (const std::string& note : text.notes) info.description += "\n\n" + note;
  info.examples = CLI::detail::join(text.examples, "\n");
  for (const CLI::Option* option : shown_options(app)) {
    info.options.push_back(option_info(*option));
    // Help lists --help as the last one of the last group.
    if (option == app.get_help_ptr() && info.options.size() > 1)
      info.options.back().group = info.options.end()[-2].group;
  }
  return info;
}

// Notes what of a command is missing where mixwalk cannot look at processes. `app`: the command there.
void note_windows_only(CommandInfo& command, const CLI::App& app) {
  command.on_windows_only = app.get_group().empty();
  for (OptionInfo& option : command.options) {
    const std::string name = option.names.empty() ? "" : option.names.back();
    option.on_windows_only = !name.empty() && !is_shown(*app.get_option(name));
  }
}

}  // namespace

std::vector<CommandInfo> command_table() {
  const CommandLine line, elsewhere({.processes = false});
  std::vector<CommandInfo> table = {command_info(line.app, "mixwalk")};
  for (const CLI::App* command : line.app.get_subcommands([](const CLI::App*) { return true; })) {
    table.push_back(command_info(*command, "mixwalk " + command->get_name()));
    note_windows_only(table.back(), *elsewhere.app.get_subcommand(command->get_name()));
  }
  return table;
}

}  // namespace mixwalk
