#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace mixwalk {

inline constexpr std::uint32_t kNoFrame = std::numeric_limits<std::uint32_t>::max();

// The kind of a thread's wait, for its verdict. docs/hang.md gives the reason for each wait.
enum class WaitState : std::uint8_t {
  unknown,  // there is no stack, or its top frames do not show the wait
  runs,     // it does not wait: code runs
  idle,     // it waits for work, or for its program to end, which is its purpose
  outside,  // it waits for an event outside the process: input, a connection, a reply, time
  signal,   // it waits for a signal that any thread may give
  blocked,  // it cannot go on before a certain other thread does: a lock, the result of a task
  calls,    // it waits, for an unknown reason, in native code that managed code called
};

// The wait of a thread, by its frames alone. A value.
struct Wait {
  WaitState state = WaitState::unknown;
  // The key of the rule that matched ("monitor-enter"), see wait_rules(). Empty if no rule matched.
  std::string_view rule;
  // "waits to enter a monitor", without the thread and without a full stop. The text contains names of the target,
  // which may contain anything.
  std::string words;
  // Indices into Stack::frames, or kNoFrame.
  std::uint32_t frame = kNoFrame;    // the frame by which the rule recognises the wait
  std::uint32_t program = kNoFrame;  // the first frame of the program from the leaf on
  // The call out of managed code below which the thread waits: "the P/Invoke orders!submit". Empty if it is not known.
  std::string call;

  bool operator==(const Wait&) const = default;
};

}  // namespace mixwalk
