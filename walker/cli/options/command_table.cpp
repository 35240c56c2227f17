#include "walker/cli/options/command_table.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "walker/cli/options/command_line.h"

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

OptionInfo option_info(CLI::Option& option) {
  OptionInfo info{.text = option.get_option_text(), .help = option.get_description()};
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.words = words_of(option);
  info.value = value_kind(option, info);
  info.value_may_be_missing = option.get_expected_min() == 0;
  return info;
}

CommandInfo command_info(CLI::App& app, const std::string& line) {
  CommandInfo info;
  info.name = app.get_name() == line ? "" : app.get_name();
  const std::string usage = HelpFormatter().make_usage(&app, line);
  const std::size_t begin = usage.find(line);
  info.usage = usage.substr(begin, usage.find('\n', begin) - begin);
  const std::string text = app.get_description();
  const std::size_t examples = text.find("\n\nExample");
  info.description = text.substr(0, examples);
  if (examples != std::string::npos) {
    std::istringstream lines(text.substr(text.find('\n', examples + 2) + 1));
    for (std::string example; std::getline(lines, example);) {
      info.examples += (info.examples.empty() ? "" : "\n") + example.substr(example.find_first_not_of(' '));
    }
  }
  for (CLI::Option* option : app.get_options([](CLI::Option* each) { return !each->get_group().empty(); })) {
    info.options.push_back(option_info(*option));
  }
  return info;
}

}  // namespace

std::vector<CommandInfo> command_table() {
  CommandLine line;
  std::vector<CommandInfo> table = {command_info(line.app, "mixwalk")};
  for (CLI::App* command : line.app.get_subcommands([](CLI::App*) { return true; })) {
    table.push_back(command_info(*command, "mixwalk " + command->get_name()));
  }
  return table;
}

}  // namespace mixwalk
