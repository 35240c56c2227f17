#pragma once

#include <windows.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace mixwalk {

// Returns MIXWALK_CASE_LIMIT, in seconds: the longest time that a case may take; ctest sets it. A case that takes
// longer prints the stacks of its children, and ends the program. Returns nothing if there is no limit.
std::optional<std::chrono::seconds> case_limit();

// Prints the stacks of all threads of a process to standard error, by mixwalk.exe from outside, and by the system's
// command line debugger (winedbg) if there is one. On a busy machine the debugger takes longer than there is time. This
// may end the process. `what` is the name of the thing that hangs.
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
