#pragma once

#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step from a frame in code that is in no image of a target, but was compiled or made by the runtime. Not
// frozen-safe; one thread at a time.
class JittedStep {
 public:
  // Like UnwindStep::step; on success the trust is `dynamic`. The result is no_unwind, and `frame` is unchanged, if
  // this code is not known. `stack`: the thread's stack copy, whose pointers must not have been rewritten.
  virtual StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept = 0;

 protected:
  ~JittedStep() = default;
};

}  // namespace mixwalk
