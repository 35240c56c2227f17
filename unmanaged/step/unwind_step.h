#pragma once

#include <cstdint>

#include "unmanaged/step/code_address.h"
#include "unmanaged/step/registers.h"
#include "unmanaged/step/trust.h"

namespace mixwalk {

// A frame during the walk: its registers, and what its Rip means.
struct Cursor {
  Registers registers;
  AddressKind kind = AddressKind::instruction_pointer;
  bool guessed = false;  // the step onto it proved nothing, and nothing has confirmed the frame since

  CodeAddress code() const noexcept { return {registers.rip, kind}; }
};

// Whether the frame before this one was the thread's root. An instruction pointer of 0 is not a root: the thread, or
// the code that a trap interrupted, called through a null pointer.
constexpr bool is_root(const Cursor& frame) noexcept {
  return frame.registers.rip == 0 && frame.kind == AddressKind::return_address;
}

// The reason why a step could not be made. Values, never exceptions: a walk that stops keeps what it has.
enum class StepFault : std::uint8_t {
  none,
  unreadable_stack,    // a saved register or the return address is outside the copied stack
  unreadable_unwind,   // .pdata or UNWIND_INFO lies in memory that is not there, or no longer there
  bad_unwind,          // unwind data that contradicts itself
  no_unwind,           // no unwind data, and the frame is not one that may be a leaf
  stack_not_growing,   // the caller's Rsp would not be above this frame's
  no_call,             // the word in the place of a return address is not one: it is not behind a call that leads here
  ended_early,         // the return address is zero, in a frame that does not start a thread
  too_slow,            // the walk has used all of its time
  return_replaced,     // the runtime has exchanged the return address, so that the thread stops when it returns
  unwind_version_3,    // unwind information of version 3 (APX), which is not decoded
  unwind_callback,     // only a function of the process has the unwind data
};

struct StepResult {
  StepFault fault = StepFault::none;
  Trust trust = Trust::unwind_info;  // how the caller was found
  // False for a leaf's return address that no call proves (LeafStep). The caller may be wrong; the rest of the walk
  // must show that it is right.
  bool proven = true;
  // The frame's code lies outside every image, and the caller's call leads to other code, as far as can be seen. Code
  // that the runtime made may nevertheless have been reached by a jump.
  bool calls_other_code = false;
  // Of return_replaced: the Rsp of the frame's caller.
  std::uint64_t caller_rsp = 0;
  // The frame's code has no unwind data. If there is also a fault, only a guess can find the caller.
  bool no_unwind_data = false;
};

// Whether a frame without unwind data may be taken for a leaf function. By the ABI such a function has not moved Rsp,
// so only the top frame (or one that a trap interrupted) can be a leaf function.
enum class LeafRule : std::uint8_t { forbidden, allowed };

// Returns the rule for a frame: an exact instruction pointer is the thread's own, or one that a trap interrupted, so
// such a frame may be a leaf function.
constexpr LeafRule leaf_rule(AddressKind kind) noexcept {
  return kind == AddressKind::instruction_pointer ? LeafRule::allowed : LeafRule::forbidden;
}

// Makes one step from a frame to its caller: the interface of RtlVirtualUnwind (live runs) and of our own decoder
// (frozen threads, dumps, other hosts). On success `frame` becomes the caller, with a strictly higher Rsp; a return
// address of 0 means that the frame was the thread's root. On a fault `frame` is unchanged. Each implementation says
// whether it is frozen-safe.
class UnwindStep {
 public:
  virtual StepResult step(Cursor& frame, LeafRule leaf) noexcept = 0;

 protected:
  ~UnwindStep() = default;
};

}  // namespace mixwalk
