#pragma once

#include <windows.h>

#include <chrono>
#include <string>
#include <vector>

namespace mixwalk {

struct TimedProgram {
  std::vector<std::string> command;  // the program first; UTF-8, as all of these
  std::string folder;                // where it runs
  std::string output;                // the file that both of its streams go to
  std::chrono::seconds limit{};
};

struct TimedResult {
  enum class End { ended, too_long, interrupted, not_started };
  End end = End::ended;
  DWORD code = 0;  // of the program; not_started: the system's error
  std::chrono::milliseconds time{};
};

// Runs a program to its end, to its time limit, or until the event `interrupt` is set: then the program is ended. It
// has a console of its own without a window, so that a Ctrl-C that the program itself sends stays in that console.
TimedResult run_timed(const TimedProgram& program, HANDLE interrupt);

}  // namespace mixwalk
