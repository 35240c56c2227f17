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
  int passed = 0, failed = 0;
  std::vector<SkippedCase> not_run;          // this machine lacks what they need
  std::vector<SkippedCase> not_for_windows;  // they say so: tests/support/win/wine.h
};

TestOutput read_test_output(std::string_view text);

}  // namespace mixwalk
