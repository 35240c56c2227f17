// Checks the pages about the commands and options: docs/options.md, the man page, and the other pages.

#include "walker/cli/options/command_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/man_page.h"
#include "tests/support/options_page.h"
#include "tests/support/utf8_path.h"
#include "walker/cli/options/options.h"

namespace mixwalk {
namespace {

const std::vector<CommandInfo>& table() {
  static const std::vector<CommandInfo> all = command_table();
  return all;
}

const CommandInfo* command_of(const std::string& name) {
  const auto found = std::ranges::find(table(), name, &CommandInfo::name);
  return found == table().end() ? nullptr : &*found;
}

const OptionInfo* option_of(const CommandInfo& command, const std::string& name) {
  const auto found = std::ranges::find_if(command.options, [&](const OptionInfo& option) {
    return std::ranges::find(option.names, name) != option.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

// Like expect_golden of tests/golden.
void expect_page(const std::string& name, const std::string& actual) {
  if (file_text(repository_file("docs/" + name)) == actual) return;
  std::ofstream(name + ".actual", std::ios::binary) << actual;
  ADD_FAILURE() << "docs/" << name << " is another page than " << name << ".actual";
}

TEST(CommandTable, IsTheDocumentedOne) {
  expect_page("options.md", options_page(table()));
  expect_page("mixwalk.1", man_page(table()));
}

TEST(CommandTable, KnowsWhatAnOptionTakes) {
  using Value = OptionInfo::Value;
  const auto option = [](const char* command, const char* name) { return *option_of(*command_of(command), name); };
  EXPECT_EQ(option("dump", "--output").value, Value::file);
  EXPECT_EQ(option("dump", "--symbol-path").value, Value::folder);
  EXPECT_EQ(option("dump", "--process-id").value, Value::other);
  EXPECT_EQ(option("dump", "--at-once").value, Value::none);
  EXPECT_EQ(option("dump", "--engine").words, (std::vector<std::string>{"auto", "copy", "snapshot"}));
  EXPECT_EQ(option("record", "--on").words,
            (std::vector<std::string>{"allocation", "class-load", "exception", "module-load"}));
  EXPECT_EQ(option("report", "-f").words, (std::vector<std::string>{"html", "json", "text"}));
  EXPECT_TRUE(option("record", "--otlp").value_may_be_missing);
  EXPECT_FALSE(option("record", "--spool").value_may_be_missing);
  for (const CommandInfo& command : table()) {
    for (const OptionInfo& each : command.options) EXPECT_NE(each.help, "") << command.usage;
  }
}

// Shells offer these words, so the parser must accept them.
TEST(CommandTable, HasWordsThatTheParserTakes) {
  const std::map<std::string, std::vector<std::string>> needed = {
      {"compare", {"a", "b"}}, {"convert", {"a"}}, {"dump", {"-p", "1"}}, {"record", {"-p", "1"}}, {"report", {"a"}}};
  int words = 0;
  for (const CommandInfo& command : table()) {
    for (const OptionInfo& option : command.options) {
      const auto refused = [&](const std::string& word) {
        std::vector<std::string> line = {command.name};
        if (const auto found = needed.find(command.name); found != needed.end()) {
          line.insert(line.end(), found->second.begin(), found->second.end());
        }
        if (!option.names.empty()) line.push_back(option.names.back());
        line.push_back(word);
        return parse_command_line(line).to_stderr.find("\"" + word + "\" is none of") != std::string::npos;
      };
      for (const std::string& word : option.words) {
        EXPECT_FALSE(refused(word)) << command.name << ' ' << option.text << ' ' << word;
        EXPECT_TRUE(refused(word + "x")) << command.name << ' ' << option.text << ' ' << word;
        ++words;
      }
    }
  }
  EXPECT_GT(words, 30);
}

// Returns the spans and blocks of code in a page.
std::vector<std::string> code_of(const std::string& page) {
  std::vector<std::string> code;
  std::istringstream lines(page);
  bool block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      block = !block;
    } else if (block) {
      code.push_back(line);
    } else {
      for (std::size_t begin; (begin = line.find('`')) != std::string::npos;) {
        const std::size_t end = line.find('`', begin + 1);
        if (end == std::string::npos) break;
        code.push_back(line.substr(begin + 1, end - begin - 1));
        line.erase(0, end + 1);
      }
    }
  }
  return code;
}

// For "--format=json," returns --format.
std::string option_name(const std::string& word) {
  std::string name = word.substr(0, word.find_first_of("=[,;.:)"));
  return name.size() > 1 && name.starts_with('-') ? name : "";
}

struct Mentions {
  int options = 0;
  std::vector<std::string> wrong;
};

// Texts such as `mixwalk dump --at-once`, `dump --at-once` and `--at-once` mention an option. Programs of the tests,
// and CMake (-D), have options of their own.
void find_mentions(const std::string& code, Mentions& mentions) {
  static const std::set<std::string> of_others = {"--full", "--gtest_filter", "--key",   "--quick",
                                                  "--sign", "--timestamp",    "--wine10"};
  std::istringstream stream(code);
  std::vector<std::string> words;
  for (std::string word; stream >> word && word != "--";) words.push_back(word);
  if (words.empty()) return;
  const bool named = words.front() == "mixwalk";
  if (named) words.erase(words.begin());
  const CommandInfo* command = words.empty() ? nullptr : command_of(words.front());
  if (named && command == nullptr && !words.empty() && words.front() != "COMMAND" &&
      words.front() != "[OPTIONS]" && option_name(words.front()).empty()) {
    mentions.wrong.push_back("there is no command \"" + words.front() + "\": " + code);
  }
  const bool alone = !named && code.starts_with("-");
  if (command == nullptr && !alone) return;
  for (const std::string& word : words) {
    const std::string name = option_name(word);
    if (name.empty() || (alone && (of_others.contains(name) || name.starts_with("-DMIXWALK_")))) continue;
    ++mentions.options;
    const bool known = command != nullptr ? option_of(*command, name) != nullptr
                                          : std::ranges::any_of(table(), [&](const CommandInfo& each) {
                                              return option_of(each, name) != nullptr;
                                            });
    if (!known) mentions.wrong.push_back("there is no option " + name + ": " + code);
  }
}

TEST(CommandTable, HasEveryOptionThatThePagesName) {
  std::vector<std::string> pages = {repository_file("README.md")};
  for (const auto& entry : std::filesystem::directory_iterator(utf8_path(repository_file("docs")))) {
    if (entry.path().extension() == ".md") pages.push_back(utf8_text(entry.path()));
  }
  EXPECT_GT(pages.size(), 15u);
  int options = 0;
  for (const std::string& page : pages) {
    Mentions mentions;
    for (const std::string& code : code_of(file_text(page))) find_mentions(code, mentions);
    for (const std::string& wrong : mentions.wrong) ADD_FAILURE() << page << ": " << wrong;
    options += mentions.options;
  }
  EXPECT_GT(options, 250);  // half of these are in docs/options.md
}

}  // namespace
}  // namespace mixwalk
