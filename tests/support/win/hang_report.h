#pragma once

#include <windows.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace mixwalk {

// MIXWALK_CASE_LIMIT, in seconds: the longest time that a case may take; ctest sets it. A case that takes longer prints
// the stacks of its children, and ends the program. Nothing: no limit.
std::optional<std::chrono::seconds> case_limit();

// Prints the stacks of all threads of a process to standard error, by the system's command line debugger (winedbg;
// without a debugger only a sentence). That may end the process. `what`: the thing that has hung.
void report_hang(std::string_view what, DWORD process_id);

// Registers a live child, so that a case that takes too long can print the child's stacks too.
class WatchedChild {
 public:
  explicit WatchedChild(DWORD process_id);
  ~WatchedChild();
  WatchedChild(const WatchedChild&) = delete;
  WatchedChild& operator=(const WatchedChild&) = delete;

 private:
  DWORD process_id_;
};

}  // namespace mixwalk
