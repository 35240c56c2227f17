#include "walker/cli/options/completions.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "walker/base/version.h"

namespace mixwalk {
namespace {

using Value = OptionInfo::Value;

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : between).append(part);
  return text;
}

// The names without the second spelling (--colour). With both, a shell could complete neither of the two.
std::vector<std::string> offered_names(const OptionInfo& option) {
  std::vector<std::string> names;
  bool long_one = false;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    if (!is_long || !long_one) names.push_back(name);
    long_one = long_one || is_long;
  }
  return names;
}

std::vector<std::string> offered_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : offered_names(option)) names.push_back(name);
  }
  return names;
}

// The command's argument; null if there is none.
const OptionInfo* argument_of(const CommandInfo& command) {
  const auto found = std::ranges::find_if(command.options, [](const OptionInfo& each) { return each.names.empty(); });
  return found == command.options.end() ? nullptr : &*found;
}

bool needs_value(const OptionInfo& option) { return option.value != Value::none && !option.value_may_be_missing; }

// A case of a bash script, for all options of the command for which `belongs` is true; empty if there are none.
std::string bash_case(const CommandInfo& command, const std::function<bool(const OptionInfo&)>& belongs,
                      const std::string& then) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    if (needs_value(option) && belongs(option)) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names.empty() ? "" : "      " + join(names, "|") + ") " + then + " ;;\n";
}

std::string bash_argument(const OptionInfo* argument) {
  if (argument == nullptr) return "";
  if (argument->value == Value::word) return "words='" + join(argument->words, " ") + "'";
  return "files=default";
}

std::string bash_command(const CommandInfo& command) {
  std::string text = "    " + command.name + ")\n      case $before in\n";
  for (const OptionInfo& option : command.options) {
    const auto this_one = [&](const OptionInfo& other) { return other.names == option.names; };
    if (option.value == Value::word) text += bash_case(command, this_one, "words='" + join(option.words, " ") + "'");
  }
  const auto of = [](Value value) { return [value](const OptionInfo& option) { return option.value == value; }; };
  return text + bash_case(command, of(Value::file), "files=default") +
         bash_case(command, of(Value::folder), "files=dirnames") + bash_case(command, of(Value::other), "return") +
         "      *)\n        if [[ $word == -* ]]; then words='" + join(offered_names(command), " ") + "'\n" +
         "        else " + (argument_of(command) ? bash_argument(argument_of(command)) : "return") +
         "; fi ;;\n      esac ;;\n";
}

// A PowerShell string literal. It is pure ASCII, because Windows PowerShell reads a script without a byte order mark in
// the code page of the machine.
std::string powershell_string(const std::string& text) {
  std::string ascii = replace_all(replace_all(text, "…", "..."), "\n", " ");
  std::erase_if(ascii, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return "'" + replace_all(ascii, "'", "''") + "'";
}

std::string powershell_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(powershell_string(text));
  return "@(" + join(all, ", ") + ")";
}

std::string powershell_command(const CommandInfo& command) {
  const OptionInfo* const argument = argument_of(command);
  const std::string summary = command.description.substr(0, command.description.find(". "));
  std::string text = "    " + powershell_string(command.name) + " = @{\n      Help = " +
                     powershell_string(summary.substr(0, summary.find("\n\n"))) + "\n      TakesArgument = " +
                     (argument ? "$true" : "$false") + "\n      Words = " +
                     powershell_list(argument ? argument->words : std::vector<std::string>()) +
                     "\n      Options = @(\n";
  for (const OptionInfo& option : command.options) {
    if (option.names.empty()) continue;
    text += "        @{ Names = " + powershell_list(option.names) + "; Offered = " +
            powershell_list(offered_names(option)) + "; TakesValue = " + (needs_value(option) ? "$true" : "$false") +
            "; Words = " + powershell_list(option.words) + "; Help = " + powershell_string(option.help) + " }\n";
  }
  return text + "      )\n    }\n";
}

constexpr char kBashBegin[] = R"(_mixwalk() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= files= at
  COMPREPLY=()
  # What follows -- is the command line of a program.
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then compopt -o default; return; fi
  done
  # bash takes --format=json for three words.
  if [[ $word == = ]]; then word=
  elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; [[ $before == -* ]] || return
  fi
  [[ $COMP_CWORD -gt 1 ]] || command=
  case $command in
)";

constexpr char kBashEnd[] = R"(    *) return ;;
  esac
  if [[ $files ]]; then compopt -o "$files"
  else COMPREPLY=($(compgen -W "$words" -- "$word")); fi
}
complete -F _mixwalk mixwalk mixwalk.exe
)";

// If the script offers nothing, PowerShell offers files.
constexpr char kPowershellEnd[] = R"(  }
  function Offer($texts, $kind, $help, $begin = '') {
    foreach ($text in $texts) {
      if (($begin + $text).StartsWith($word, [StringComparison]::Ordinal)) {
        [System.Management.Automation.CompletionResult]::new($begin + $text, $text, $kind, $help)
      }
    }
  }
  $before = $line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor }
  $given = @($before | ForEach-Object { $_.ToString() })
  # What follows -- is the command line of a program.
  if ($given -contains '--') { return }
  if ($given.Count -lt 2) {
    foreach ($name in $commands.Keys) { Offer $name 'ParameterValue' $commands[$name].Help }
    Offer '--help', '--version' 'ParameterName' 'mixwalk'
    return
  }
  $command = $commands[$given[1]]
  if (-not $command) { return }
  $equals = $word.IndexOf('=')
  $name = if ($equals -ge 0) { $word.Substring(0, $equals) } else { $given[-1] }
  $option = $command.Options | Where-Object { $_.TakesValue -and $_.Names -ccontains $name }
  if ($option) {
    $begin = if ($equals -ge 0) { $name + '=' } else { '' }
    Offer $option.Words 'ParameterValue' $option.Help $begin
  } elseif ($word.StartsWith('-') -or -not $command.TakesArgument) {
    foreach ($option in $command.Options) { Offer $option.Offered 'ParameterName' $option.Help }
  } else {
    Offer $command.Words 'ParameterValue' $command.Help
  }
}
)";

}  // namespace

std::string bash_completions(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> first;
  std::string all;
  for (const CommandInfo& command : commands) {
    if (command.name.empty()) continue;
    first.push_back(command.name);
    all += bash_command(command);
  }
  return "# Completions of mixwalk " + std::string(kVersion) + " for bash.\n" + kBashBegin + "    '') words='" +
         join(first, " ") + " --help --version' ;;\n" + all + kBashEnd;
}

std::string powershell_completions(const std::vector<CommandInfo>& commands) {
  std::string all;
  for (const CommandInfo& command : commands) {
    if (!command.name.empty()) all += powershell_command(command);
  }
  return "# Completions of mixwalk " + std::string(kVersion) +
         " for PowerShell.\nRegister-ArgumentCompleter -Native -CommandName mixwalk, mixwalk.exe -ScriptBlock {\n"
         "  param($word, $line, $cursor)\n  $commands = [ordered]@{\n" + all + kPowershellEnd;
}

}  // namespace mixwalk
