#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walker/base/failure.h"

namespace mixwalk {

// The failures of a visit to a process, described for the user. Pure, and portable; not frozen-safe.

// The facts about the visit when it failed.
struct VisitState {
  std::string process;    // "process 4711 (orders.exe)"
  bool started = false;   // whether mixwalk started the process
  bool greeted = false;   // whether mixwalk.dll has sent a message from inside the process
  std::optional<std::uint32_t> exit_code;  // of the process; nothing if it runs, or if the code is unknown
};

// " with code 3", " with code 0xc0000005", or an empty text if the code is unknown.
std::string with_exit_code(std::optional<std::uint32_t> exit_code);

// ": Windows refused one of its files: …", with advice, if the exit code is one with which Windows' loader ends a
// program before its first instruction. An empty text for any other code.
std::string refusal_at_start(std::optional<std::uint32_t> exit_code);

Failure process_ended(const VisitState& state);
// The process lives, but mixwalk.dll sent nothing until the time-out.
Failure process_silent(const VisitState& state);
// The process lives, but mixwalk.dll closed the pipe.
Failure profiler_gone(const VisitState& state);

}  // namespace mixwalk
