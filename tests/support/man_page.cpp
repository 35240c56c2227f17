#include "tests/support/man_page.h"

#include <algorithm>
#include <string_view>

namespace mixwalk {
namespace {

// Returns one line of text; characters that roff would interpret are escaped.
std::string roff(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      case '\n': escaped += ' '; break;
      default:
        if (text.substr(i).starts_with(kEllipsis)) {
          escaped += "...";  // which a terminal without UTF-8 has as well
          i += kEllipsis.size() - 1;
        } else {
          escaped += text[i];
        }
    }
  }
  return (escaped.starts_with('.') ? "\\&" : "") + escaped;
}

std::string paragraphs(const std::string& text) {
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    all += (all.empty() ? "" : ".PP\n") + roff(text.substr(begin, end - begin)) + "\n";
    begin = end + 2;
  }
  return all;
}

// Returns lines that roff prints unchanged.
std::string literal(const std::string& lines) {
  std::string all = ".nf\n";
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    all += roff(lines.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return all + ".fi\n";
}

std::string options(const CommandInfo& command) {
  std::string all, group;
  for (const OptionInfo& option : command.options) {
    if (option.group != group && !command.name.empty()) all += ".PP\n\\fB" + roff(option.group) + "\\fR\n";
    group = option.group;
    std::string shown;
    for (const std::string& name : option.names) shown += (shown.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    if (!option.text.empty()) shown += (shown.empty() ? "\\fI" : " \\fI") + roff(option.text) + "\\fR";
    all += ".TP\n" + shown + "\n" + roff(option.help) + "\n";
  }
  return all;
}

}  // namespace

std::string man_page(const std::vector<CommandInfo>& commands) {
  std::string synopsis, sections;
  for (const CommandInfo& command : commands) {
    if (command.name.empty()) continue;
    synopsis += (synopsis.empty() ? "" : "\n") + command.usage;
    sections += ".SS mixwalk " + roff(command.name) + "\n" + paragraphs(command.description) +
                (command.on_windows_only ? ".PP\nOnly on Windows.\n" : "") + options(command);
    if (!command.examples.empty()) sections += ".PP\nExamples:\n.PP\n" + literal(command.examples);
  }
  const CommandInfo& whole = commands.front();
  return ".TH MIXWALK 1 \"\" mixwalk \"User Commands\"\n"
         ".SH NAME\nmixwalk \\- complete call stacks of .NET processes\n"
         ".SH SYNOPSIS\n" + literal(synopsis) +
         ".SH DESCRIPTION\n" + roff(whole.description) + "\n" + options(whole) +
         ".SH COMMANDS\n" + sections +
         ".SH EXIT STATUS\n0 where all went well. The other codes are in docs/exit\\-codes.md, beside the program.\n";
}

}  // namespace mixwalk
