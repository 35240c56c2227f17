#include "walker/session/windows_arguments.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(WindowsArguments, QuotedOnlyWhereNeeded) {
  EXPECT_EQ(join_windows_arguments({"a.exe", "--port", "8080"}), "a.exe --port 8080");
  EXPECT_EQ(join_windows_arguments({"C:\\Program Files\\a.exe"}), "\"C:\\Program Files\\a.exe\"");
  EXPECT_EQ(join_windows_arguments({"a.exe", ""}), "a.exe \"\"");
}

TEST(WindowsArguments, QuotesAndBackslashes) {
  EXPECT_EQ(join_windows_arguments({"x", "say \"hi\""}), "x \"say \\\"hi\\\"\"");
  EXPECT_EQ(join_windows_arguments({"x", "a b\\"}), "x \"a b\\\\\"") << "before the closing quote";
  EXPECT_EQ(join_windows_arguments({"x", "a\\\\b c"}), "x \"a\\\\b c\"");
  EXPECT_EQ(join_windows_arguments({"x", "\\\""}), "x \"\\\\\\\"\"");
  EXPECT_EQ(join_windows_arguments({"x", "C:\\dir\\"}), "x C:\\dir\\");
}

// Does the opposite, by the table of Microsoft's "Parsing C++ command-line arguments": 2n backslashes and a quote are n
// backslashes and a delimiter, 2n + 1 backslashes and a quote are n backslashes and a literal quote.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> arguments;
  std::string argument;
  bool inside = false, begun = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::size_t backslashes = 0;
    while (i < line.size() && line[i] == '\\') ++i, ++backslashes;
    begun = begun || backslashes != 0;
    if (i < line.size() && line[i] == '"') {
      argument.append(backslashes / 2, '\\');
      begun = true;
      if (backslashes % 2 == 1)
        argument += '"';
      else
        inside = !inside;
      continue;
    }
    argument.append(backslashes, '\\');
    if (i == line.size()) break;
    if (!inside && (line[i] == ' ' || line[i] == '\t')) {
      if (begun) arguments.push_back(argument);
      argument.clear();
      begun = false;
    } else {
      argument += line[i];
      begun = true;
    }
  }
  if (begun) arguments.push_back(argument);
  return arguments;
}

TEST(WindowsArguments, WhatIsSplitAgainIsWhatWasJoined) {
  // Every argument with up to four of the special characters.
  const std::string alphabet = "a \"\\\t";
  std::vector<std::string> arguments = {""};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() == 4) break;
    for (const char c : alphabet) arguments.push_back(arguments[i] + c);
  }
  ASSERT_EQ(arguments.size(), 1u + 5 + 25 + 125 + 625);
  for (const std::string& argument : arguments) {
    const std::vector<std::string> line = {"x", argument, "", argument, "y"};
    EXPECT_EQ(split(join_windows_arguments(line)), line) << join_windows_arguments(line);
  }
  EXPECT_EQ(split(join_windows_arguments(arguments)), arguments);
}

TEST(WindowsArguments, NoneAreAnEmptyLine) {
  EXPECT_EQ(join_windows_arguments({}), "");
}

}  // namespace
}  // namespace mixwalk
