#include "unmanaged/step/native_run.h"

namespace mixwalk {

OpenReason open_reason(StepFault fault) noexcept {
  switch (fault) {
    case StepFault::none: return OpenReason::none;
    case StepFault::unreadable_stack: return OpenReason::unreadable_stack;
    case StepFault::unreadable_unwind: return OpenReason::unreadable_unwind;
    case StepFault::bad_unwind: return OpenReason::bad_unwind;
    case StepFault::no_unwind: return OpenReason::no_unwind;
    case StepFault::stack_not_growing: return OpenReason::stack_not_growing;
    case StepFault::no_call: return OpenReason::no_call;
    case StepFault::ended_early: return OpenReason::ended_early;
    case StepFault::too_slow: return OpenReason::too_slow;
    case StepFault::return_replaced: return OpenReason::return_replaced;
    case StepFault::unwind_version_3: return OpenReason::unwind_version_3;
    case StepFault::unwind_callback: return OpenReason::unwind_callback;
  }
  return OpenReason::bad_unwind;
}

RunResult walk_native_run(const Cursor& start, Trust start_trust, const RunBound& bound,
                          UnwindStep& step, std::span<RunFrame> frames) noexcept {
  RunResult result{.arrival = start_trust, .guessed = is_guess(start_trust), .next = start};
  Cursor& frame = result.next;
  Cursor last = start;
  Trust trust = start_trust;
  bool proven = true;
  while (true) {
    const Registers& registers = frame.registers;
    if (bound.rsp != RunBound::kNone) {
      if (registers.rsp() == bound.rsp) {
        result.end = registers.rip == bound.rip ? RunEnd::closed : RunEnd::closed_rsp;
        return result;
      }
      if (registers.rsp() > bound.rsp) {
        result.why = OpenReason::passed_bound;
        result.next = last;
        if (result.frames != 0) result.arrival = frames[result.frames - 1].trust;
        return result;
      }
    }
    if (is_root(frame)) {
      if (bound.rsp == RunBound::kNone) {
        result.end = RunEnd::root;
      } else {
        result.why = OpenReason::ended_at_root;
      }
      return result;
    }
    if (result.frames == frames.size()) {
      result.why = OpenReason::frame_limit;
      return result;
    }
    frames[result.frames++] = {registers.rip, registers.rsp(), frame.kind, trust, proven};
    last = frame;
    const StepResult stepped = step.step(frame, leaf_rule(frame.kind));
    if (stepped.fault != StepFault::none) {
      result.why = open_reason(stepped.fault);
      return result;
    }
    trust = stepped.trust;
    proven = stepped.proven;
    result.arrival = trust;
    result.guessed = result.guessed || is_guess(trust);
  }
}

}  // namespace mixwalk
