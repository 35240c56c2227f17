#include "walker/base/exit_code.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/support/golden.h"

namespace mixwalk {
namespace {

std::set<int> numbers(const std::string& path, const char* pattern) {
  const std::string text = file_text(path);
  std::set<int> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.insert(std::stoi((*at)[1]));
  }
  return found;
}

TEST(ExitCode, EveryOneStandsInTheDocument) {
  const auto in_header = numbers(repository_file("walker/base/exit_code.h"), "= ([0-9]+),");
  EXPECT_EQ(in_header, numbers(repository_file("docs/exit-codes.md"), "\\| ([0-9]+) \\|"));
  EXPECT_TRUE(in_header.contains(static_cast<int>(ExitCode::input)));
}

}  // namespace
}  // namespace mixwalk
