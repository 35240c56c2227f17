#pragma once

#include <windows.h>

#include <cstdio>

#include "walker/cli/output/progress_line.h"

namespace mixwalk {

// Remembers the state of this process's console, and restores it when this object is destroyed, or when Ctrl-C,
// Ctrl-Break or the closing of the console ends the process, because other programs and the shell go on using the
// console. One object at a time. Sets the console's output to UTF-8.
class ConsoleRestorer {
 public:
  ConsoleRestorer() noexcept;
  ~ConsoleRestorer();
  ConsoleRestorer(const ConsoleRestorer&) = delete;
  ConsoleRestorer& operator=(const ConsoleRestorer&) = delete;
};

// Whether this stream is a console that obeys escape sequences. The function switches escape sequences on. On older
// consoles this fails.
bool supports_escapes(std::FILE* stream) noexcept;

// Standard error, for a ProgressLine.
ProgressLine::Terminal progress_terminal();

}  // namespace mixwalk
