#pragma once

#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step from a frame in code that lies in no image of a target: code that the runtime compiled or made. Not
// frozen-safe; one thread at a time.
class JittedStep {
 public:
  // Like UnwindStep::step; on success the trust is `dynamic`. no_unwind: this code is not known, and `frame` is
  // unchanged. `stack`: the thread's stack copy, with its pointers not rewritten.
  virtual StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept = 0;

 protected:
  ~JittedStep() = default;
};

}  // namespace mixwalk
