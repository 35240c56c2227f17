#pragma once

#include <windows.h>

#include <cstdio>
#include <string>

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

// A line on standard error that is written again and again. Writes nothing if standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine() noexcept;
  bool on_terminal() const noexcept { return on_terminal_; }
  // Replaces the line. `end` is written after it.
  void show(const std::string& line, const char* end = "");

 private:
  const bool on_terminal_;
  std::size_t width_ = 0;
};

}  // namespace mixwalk
