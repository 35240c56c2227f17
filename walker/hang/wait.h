#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace mixwalk {

inline constexpr std::uint32_t kNoFrame = std::numeric_limits<std::uint32_t>::max();

// What kind of wait a thread is in, for its verdict. docs/hang.md gives the reason for each wait.
enum class WaitState : std::uint8_t {
  unknown,  // there is no stack, or its top frames do not show
  runs,     // it waits for nothing: code runs
  idle,     // it waits for work, or for its program to end: that is what the thread is for
  outside,  // it waits for what comes from outside the process: input, a connection, a reply, time
  signal,   // it waits for a signal that any thread may give: nobody owns it
  blocked,  // it cannot go on until a certain other thread does: a lock, the result of a task
  calls,    // it waits in native code that managed code called, for something unknown
};

// What a thread waits for, by its frames alone. A value.
struct Wait {
  WaitState state = WaitState::unknown;
  // The key of the rule that matched ("monitor-enter"): wait_rules(). Empty: no rule matched.
  std::string_view rule;
  // "waits to enter a monitor", without the thread and without a full stop. It contains names of the target, which may
  // contain anything.
  std::string words;
  // Places in Stack::frames; kNoFrame: none.
  std::uint32_t frame = kNoFrame;    // the frame that the rule knows the wait by
  std::uint32_t program = kNoFrame;  // the first frame from the leaf that is the program's: no system, runtime or library

  bool operator==(const Wait&) const = default;
};

}  // namespace mixwalk
