#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One frame of a native run, in the target's addresses.
struct RunFrame {
  std::uint64_t address = 0;
  std::uint64_t stack_pointer = 0;
  AddressKind kind = AddressKind::instruction_pointer;
  Trust trust = Trust::context;
  bool proven = true;  // StepResult::proven of the step onto it
};

// The place where a run must end: the managed frame below it, or (rsp = none) the thread's root.
struct RunBound {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t rip = 0;
  std::uint64_t rsp = kNone;
};

enum class RunEnd : std::uint8_t {
  closed,      // the run arrived exactly on the bound's (Rip, Rsp)
  closed_rsp,  // the run arrived on the bound's Rsp with another Rip: the caller must say whether both lie in the same
               // function (the CLR reports an inlined P/Invoke's frame that way)
  root,        // the run arrived at the thread's root, and no bound was set
  open,        // the run stopped before its end; `why` gives the reason
};

enum class OpenReason : std::uint8_t {
  none,
  unreadable_stack,
  unreadable_unwind,
  bad_unwind,
  no_unwind,
  stack_not_growing,
  frame_limit,     // more frames than the buffer holds
  passed_bound,    // a caller's Rsp lies beyond the managed frame at which the run had to end
  ended_at_root,   // the thread's root came before the managed frame at which the run had to end
  wrong_function,  // Rsp is that of the managed frame, but the function is another one (set by the merge)
  stack_cut,       // the stack was larger than the copy, or one of its pages must not be read
  no_call,         // code without unwind data, and no return address that a call proves
  ended_early,     // a return address of zero, in a frame that does not start a thread
  too_slow,        // the walk has used all of its time
  off_stack,       // the thread's Rsp is not on its own stack, so no stack was copied (set by the merge)
  return_replaced,   // the runtime has exchanged the return address
  unwind_version_3,  // unwind information of version 3 (APX)
  unwind_callback,   // only a function of the process has the unwind data
};
// Files store the numbers, so a new one is added at the end.
inline constexpr OpenReason kLastOpenReason = OpenReason::unwind_callback;
inline constexpr std::size_t kOpenReasons = static_cast<std::size_t>(kLastOpenReason) + 1;

struct RunResult {
  RunEnd end = RunEnd::open;
  OpenReason why = OpenReason::none;
  std::size_t frames = 0;  // written to the caller's buffer
  Trust arrival = Trust::context;  // how `next` was found; without meaning if the last step failed
  bool guessed = false;  // a step was a guess: only Rip, Rsp and maybe Rbp of the registers of `next` are known
  // The frame after the last frame written; for a closed run, the bound's frame. After passed_bound, the last frame
  // written: its part of the stack (up to its caller's Rsp) contains the bound's Rsp.
  Cursor next;
};

// Walks from `start` (the first frame of the run, written with `start_trust`) to the bound. Frozen-safe if `step` is.
// The caller owns the buffer `frames`.
RunResult walk_native_run(const Cursor& start, Trust start_trust, const RunBound& bound,
                          UnwindStep& step, std::span<RunFrame> frames) noexcept;

OpenReason open_reason(StepFault fault) noexcept;

}  // namespace mixwalk
