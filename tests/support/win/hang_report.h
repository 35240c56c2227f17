#pragma once

#include <windows.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace mixwalk {

// MIXWALK_CASE_LIMIT, in seconds: the longest that a case may take, as ctest sets it. A case that takes
// longer says where its children stand, and ends the program. Nothing: no limit.
std::optional<std::chrono::seconds> case_limit();

// Where all threads of a process stand, to standard error: by the system's command line debugger
// (winedbg; without one only the sentence). The process may be ended by that: `what` has hung.
void report_hang(std::string_view what, DWORD process_id);

// A child that lives, so that a case that takes too long can say where its children stand too.
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
