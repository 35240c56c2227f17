#include "tests/tools/bundle/test_output.h"

#include <sstream>

namespace mixwalk {
namespace {

constexpr std::string_view kNotForWindows = "not for Windows: ";

// The line is "Suite.Case (12 ms)".
std::string case_name(const std::string& line, std::string_view mark) {
  const std::string name = line.substr(mark.size());
  return name.substr(0, name.find(" ("));
}

}  // namespace

// A skipped case has the lines "FILE:LINE: Skipped", its reason, possibly empty lines, "[  SKIPPED ] Suite.Case (0
// ms)". The names are repeated at the end of the output, without times.
TestOutput read_test_output(std::string_view text) {
  constexpr std::string_view kOk = "[       OK ] ", kFailed = "[  FAILED  ] ", kSkipped = "[  SKIPPED ] ",
                             kBanner = "[==========] ";
  TestOutput output;
  std::istringstream in{std::string(text)};
  std::string why;
  bool in_reason = false;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const bool ends_case = line.ends_with(" ms)");
    if (line.starts_with(kBanner)) {
      output.of_googletest = true;
      if (line.find(" ran. (") != std::string::npos) output.whole = true;
    }
    if (line.ends_with(": Skipped")) {
      in_reason = true;
      why.clear();
    } else if (line.starts_with(kOk)) {
      ++output.passed;
    } else if (line.starts_with(kFailed) && ends_case) {
      ++output.failed;
    } else if (line.starts_with(kSkipped) && ends_case) {
      const bool other_system = why.starts_with(kNotForWindows);
      if (other_system) why.erase(0, kNotForWindows.size());
      (other_system ? output.not_for_windows : output.not_run).push_back({case_name(line, kSkipped), why});
      in_reason = false;
      why.clear();
    } else if (in_reason && !line.empty()) {
      why += (why.empty() ? "" : " ") + line;
    }
  }
  return output;
}

}  // namespace mixwalk
