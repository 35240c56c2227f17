#include "walker/base/exit_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace mixwalk {
namespace {

std::set<int> numbers(const char* path, const char* pattern) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<int> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.insert(std::stoi((*at)[1]));
  }
  return found;
}

TEST(ExitCode, EveryOneStandsInTheDocument) {
  const auto in_header = numbers(MIXWALK_SOURCE "/walker/base/exit_code.h", "= ([0-9]+),");
  EXPECT_EQ(in_header, numbers(MIXWALK_SOURCE "/docs/exit-codes.md", "\\| ([0-9]+) \\|"));
  EXPECT_TRUE(in_header.contains(static_cast<int>(ExitCode::input)));
}

}  // namespace
}  // namespace mixwalk
