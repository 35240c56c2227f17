#pragma once

#include <windows.h>

#include "unmanaged/step/module_view.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"

namespace mixwalk {

// One step by RtlVirtualUnwind, over a stack copy whose pointers were rewritten
// (StackCopy::rewrite_pointers). NOT frozen-safe: RtlLookupFunctionEntry takes the lock of the
// dynamic function table, which the frozen thread may hold.
class RtlUnwindStep final : public UnwindStep {
 public:
  // A FaultGuard must live as long: unwind data may be bad, or its image gone.
  RtlUnwindStep(const StackCopy& stack, const ModuleView& modules) noexcept;

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

 private:
  struct Unwind;
  static void unwind(void* call);

  const StackCopy& stack_;
  const ModuleView& modules_;
  CONTEXT context_;
};

}  // namespace mixwalk
