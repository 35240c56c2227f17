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
  bool of_googletest = false;  // it has the first line of such a program
  bool whole = false;          // and the one that follows the last case
  int passed = 0, failed = 0;
  std::vector<SkippedCase> not_for_windows;  // they say so: tests/support/win/wine.h
  std::vector<SkippedCase> not_run;          // all others that were skipped: this machine lacks what they need
};

TestOutput read_test_output(std::string_view text);

}  // namespace mixwalk
