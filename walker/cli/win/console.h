#pragma once

#include <windows.h>

#include <cstdio>

namespace mixwalk {

// The console of this process as it was, given back when this goes, and when Ctrl-C, Ctrl-Break or the
// console's end ends the process: other programs and the shell go on using it. One at a time. Sets
// its output to UTF-8.
class ConsoleRestorer {
 public:
  ConsoleRestorer() noexcept;
  ~ConsoleRestorer();
  ConsoleRestorer(const ConsoleRestorer&) = delete;
  ConsoleRestorer& operator=(const ConsoleRestorer&) = delete;
};

// Whether this stream is a console that obeys escape sequences: it is told to, which an older one
// cannot.
bool obeys_escapes(std::FILE* stream) noexcept;

}  // namespace mixwalk
