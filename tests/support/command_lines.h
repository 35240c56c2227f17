#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace mixwalk::test {

// Calls `line` for each line of a command's standard output, without its end. Returns false if the command could not be
// run, or failed.
inline bool each_line(const std::string& command, const std::function<void(const std::string&)>& line) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return false;
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      text += static_cast<char>(c);
      continue;
    }
    line(text);
    text.clear();
  }
  return pclose(pipe) == 0;
}

}  // namespace mixwalk::test
