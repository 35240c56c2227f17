#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

struct SkippedCase {
  std::string name, why;
};

// What GoogleTest's output says about a program's cases. The output of other programs has none.
struct TestOutput {
  bool of_googletest = false;  // the output has the first line of a GoogleTest program
  bool whole = false;          // the output has the line that follows the last case
  int passed = 0, failed = 0;
  std::vector<SkippedCase> not_for_windows;  // by their own words: tests/support/win/wine.h
  std::vector<SkippedCase> not_run;          // all other skipped cases, for which this machine lacks something
};

TestOutput read_test_output(std::string_view text);

}  // namespace mixwalk
