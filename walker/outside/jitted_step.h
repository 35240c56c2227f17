#pragma once

#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step from a frame in code that lies in no image of a target: what the runtime compiled or made. Not
// frozen-safe; one thread at a time.
class JittedStep {
 public:
  // As UnwindStep::step; on success the trust is `dynamic`. no_unwind: this code is not known, and `frame` is as it
  // was. `stack`: the thread's, its pointers not rewritten.
  virtual StepResult step(Cursor& frame, LeafRule leaf, const StackCopy& stack) noexcept = 0;

 protected:
  ~JittedStep() = default;
};

}  // namespace mixwalk
