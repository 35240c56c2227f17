#pragma once

#include <windows.h>

#include <chrono>
#include <string>
#include <vector>

namespace mixwalk {

struct TimedProgram {
  std::vector<std::string> command;  // the program first; all texts are UTF-8
  std::string folder;                // the program's current folder
  std::string output;                // the file to which both of the program's streams go
  std::chrono::seconds limit{};
};

struct TimedResult {
  enum class End { ended, too_long, interrupted, not_started };
  End end = End::ended;
  DWORD code = 0;  // of the program; if it was not started, the system's error
  std::chrono::milliseconds time{};
};

// Runs a program to its end, to its time limit, or until the event `interrupt` is set; in the last two cases it is
// ended. It has a console of its own without a window, so that a Ctrl-C that the program itself sends stays in that
// console.
TimedResult run_timed(const TimedProgram& program, HANDLE interrupt);

}  // namespace mixwalk
